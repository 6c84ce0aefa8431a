/// What ModemManager tells of the cell, in the words of lookup services.
extension CellTower {
    /// - Parameters:
    ///   - text: `MCC,MNC,LAC,CI,TAC`, the last three in hexadecimal digits. Old releases leave out the last one.
    ///   - technologies: `MMModemAccessTechnology`.
    /// - Returns: `nil` where a part is missing or cannot be: services refuse a whole request for one such value.
    init?(_ text: String, technologies: UInt32) {
        let fields = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard (4...5).contains(fields.count), let radio = Radio(technologies: technologies),
            let countryCode = Self.number(fields[0], digits: 3...3, radix: 10),
            let networkCode = Self.number(fields[1], digits: 2...3, radix: 10),
            let cellID = Self.number(fields[3], digits: 1...16, radix: 16)
        else { return nil }
        let areas = [fields[2]] + fields[4...]
        let codes = areas.map { Self.number($0, digits: 1...8, radix: 16) }
        // LTE and later have TACs, which some modems tell as LAC all the same.
        let candidates = radio == .lte || radio == .nr ? codes.reversed() : [codes[0]]
        guard let areaCode = candidates.compactMap({ $0 }).first(where: radio.areas.contains) else { return nil }
        self.init(
            radio: radio, countryCode: countryCode, networkCode: networkCode, areaCode: areaCode, cellID: cellID)
        guard isSendable else { return nil }
    }

    private static func number(_ text: Substring.UTF8View, digits: ClosedRange<Int>, radix: Int) -> Int? {
        // A sign is no digit.
        guard digits.contains(text.count), text.first.map({ $0 >= UInt8(ascii: "0") }) == true else { return nil }
        return Int(Substring(text), radix: radix)
    }
}

extension CellTower.Radio {
    /// - Parameter technologies: `MMModemAccessTechnology`. With several, the cell is that of LTE before 5G, whose
    ///   first form is an addition to an LTE cell, and before the older ones.
    /// - Returns: `nil` for none of these.
    init?(technologies: UInt32) {
        switch technologies {
        case let some where some & 0x3_4000 != 0: self = .lte
        case let some where some & 0x8000 != 0: self = .nr
        case let some where some & 0x3E0 != 0: self = .wcdma
        case let some where some & 0x1E != 0: self = .gsm
        default: return nil
        }
    }
}
