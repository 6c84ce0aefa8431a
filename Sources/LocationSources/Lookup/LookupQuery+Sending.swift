import JSON

/// What of a query goes to a provider, and how it is written (Ichnaea's API, “Geolocate”).
///
/// BeaconDB refuses a whole request for one value that it does not expect, so that what is doubtful is left out. The
/// names of networks are never sent, and one access point alone never is, either.
extension LookupQuery {
    /// Fewer are never sent: one alone would tell where a single device is.
    static let fewestAccessPoints = 2
    /// More add nothing to an answer.
    static let mostAccessPoints = 20
    /// A modem sees no more that would help.
    static let mostCells = 16

    /// The query without what may not or need not be sent.
    ///
    /// - Returns: `nil` if nothing is left, since asking then would be asking for the place of the address.
    var sendable: LookupQuery? {
        guard !isByAddress else { return self }
        var seen: Set<UInt64> = []
        var points = accessPoints.filter { $0.isSendable && seen.insert($0.address).inserted }
        if points.count < Self.fewestAccessPoints { points = [] }
        let query = LookupQuery(
            accessPoints: Array(points.prefix(Self.mostAccessPoints)),
            cells: Array(cells.filter(\.isSendable).prefix(Self.mostCells)))
        return query.isByAddress ? nil : query
    }

    /// The query without 5G towers.
    var withoutNewRadio: LookupQuery {
        LookupQuery(accessPoints: accessPoints, cells: cells.filter { $0.radio != .nr })
    }

    /// The request, in UTF-8. Neither an address nor an area of cells may be what the answer rests on, unless nothing
    /// but the address is asked about.
    ///
    /// - Parameter now: time since boot, by which ages go.
    func body(at now: Duration) -> [UInt8] {
        var members: [String: JSONValue] = [:]
        if !isByAddress {
            // Ichnaea lets `fallbacks` win, BeaconDB heeds both.
            members["considerIp"] = false
            members["fallbacks"] = ["ipf": false, "lacf": false]
        }
        if !accessPoints.isEmpty { members["wifiAccessPoints"] = .array(accessPoints.map { $0.json(at: now) }) }
        // Each tower has a radio of its own: one for all of them could only disagree.
        if !cells.isEmpty { members["cellTowers"] = .array(cells.map(\.json)) }
        guard let text = try? JSONValue.object(members).text() else { preconditionFailure("whole numbers are finite") }
        return Array(text.utf8)
    }

    /// What makes two queries the same: who is heard, however loud; or from where the address was asked about.
    struct Key: Hashable, Sendable {
        private let addresses: Set<UInt64>
        private let cells: Set<CellTower>
        private let attachment: UInt64?

        init(_ query: LookupQuery, attachment: UInt64) {
            addresses = Set(query.accessPoints.map(\.address))
            cells = Set(query.cells)
            self.attachment = query.isByAddress ? attachment : nil
        }
    }
}

extension AccessPoint {
    /// Whether the address may be that of an access point which stays where it is: a maker's, of one device. Neither a
    /// group's (all ones is one) nor one that a device has given itself, as phones do (IEEE 802, 8.2: the first byte's
    /// lowest bits).
    var isSendable: Bool { address > 0 && address < 1 << 48 && address & 0x0300_0000_0000 == 0 }

    func json(at now: Duration) -> JSONValue {
        var members: [String: JSONValue] = [
            "macAddress": .string(Self.text(of: address)),
            "age": .integer(max(now - seenAt, .zero).wholeMilliseconds),
        ]
        if let signal, (-128 ... -1).contains(signal) { members["signalStrength"] = .integer(Int64(signal)) }
        // From the channels at 2.4 GHz to those at 6 GHz.
        if let frequency, (2400...7200).contains(frequency) { members["frequency"] = .integer(Int64(frequency)) }
        return .object(members)
    }

    private static func text(of address: UInt64) -> String {
        (0..<6).map { index in
            let byte = address >> (40 - 8 * index) & 0xFF
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined(separator: ":")
    }
}

extension CellTower {
    /// Within what the standards have room for, and none of the values that mean "not known".
    var isSendable: Bool {
        (1...999).contains(countryCode) && (0...999).contains(networkCode) && radio.areas.contains(areaCode)
            && radio.cells.contains(cellID)
    }

    var json: JSONValue {
        [
            "radioType": .string(radio.rawValue), "mobileCountryCode": .integer(Int64(countryCode)),
            "mobileNetworkCode": .integer(Int64(networkCode)), "locationAreaCode": .integer(Int64(areaCode)),
            "cellId": .integer(Int64(cellID)),
        ]
    }
}

extension CellTower.Radio {
    /// The cell identities that there are: of 16, 28 and 36 bits, without none and all of them, which mean unknown
    /// (3GPP TS 23.003, 4.3.1, 4.7, 19.6, 19.6A).
    var cells: ClosedRange<Int> {
        switch self {
        case .gsm: 1...0xFFFE
        case .wcdma, .lte: 1...0xFFF_FFFE
        case .nr: 1...0xF_FFFF_FFFE
        }
    }

    /// The location or tracking areas that there are: FFFE means that there is none (3GPP TS 23.003, 4.1, 19.4.2.3).
    var areas: ClosedRange<Int> {
        switch self {
        case .gsm, .wcdma, .lte: 1...0xFFFD
        case .nr: 1...0xFF_FFFD
        }
    }
}

extension Duration {
    /// Rounded towards zero.
    var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }

    /// Rounded towards zero.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
