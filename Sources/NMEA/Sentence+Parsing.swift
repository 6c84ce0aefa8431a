/// Field numbers by NMEA 0183 4.11, chapter 8, as receivers' manuals quote it.
extension Sentence {
    /// Parses what stands between `$` and `*`.
    ///
    /// - Returns: `nil` for a type that is not read, and for a sentence too short to mean anything.
    package init?(_ text: ArraySlice<UInt8>) {
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")), let kind = Kind(address: text[..<comma]) else {
            return nil
        }
        self.init(kind)
        var fields = FieldReader(text[(comma + 1)...])
        guard fields.count >= kind.fewestFields else { return nil }
        switch kind {
        case .gga: parseGGA(&fields)
        case .rmc: parseRMC(&fields)
        case .gns: parseGNS(&fields)
        case .gll: parseGLL(&fields)
        case .gsa: parseGSA(&fields)
        case .gst: parseGST(&fields)
        case .vtg: parseVTG(&fields)
        case .zda: parseZDA(&fields)
        case .pgrme: parsePGRME(&fields)
        }
    }

    // MARK: Positions

    private mutating func parseGGA(_ fields: inout FieldReader) {
        time = fields.time()
        coordinate = fields.coordinate()
        switch fields.integer() {
        case nil, 0, 6, 7, 8: validity = .noFix
        case 2: (validity, errorFactor) = (.fix, ErrorFactor.differential)
        case 4: (validity, errorFactor) = (.fix, ErrorFactor.fixedRTK)
        case 5: (validity, errorFactor) = (.fix, ErrorFactor.floatRTK)
        default: (validity, errorFactor) = (.fix, ErrorFactor.none)
        }
        fields.skip(1)
        hdop = fields.hdop()
        altitude = fields.altitude()
        if let unit = fields.letter(), unit != UInt8(ascii: "M") { altitude = nil }
    }

    private mutating func parseRMC(_ fields: inout FieldReader) {
        time = fields.time()
        validity = fields.letter() == UInt8(ascii: "A") ? .fix : .noFix
        coordinate = fields.coordinate()
        speed = fields.knots()
        course = fields.course()
        if speed == 0 && course == 0 { course = nil }
        date = fields.shortDate()
        fields.skip(2)
        if let mode = fields.letter(), !Mode.isFix(mode) { validity = .noFix }
        // The navigational status that follows since 4.1 says V where the receiver does not know one.
    }

    private mutating func parseGNS(_ fields: inout FieldReader) {
        time = fields.time()
        coordinate = fields.coordinate()
        // One letter for each constellation; those that take part agree.
        if let mode = fields.bytes().first(where: Mode.isFix) {
            (validity, errorFactor) = (.fix, Mode.errorFactor(mode))
        } else {
            validity = .noFix
        }
        fields.skip(1)
        hdop = fields.hdop()
        altitude = fields.altitude()
    }

    private mutating func parseGLL(_ fields: inout FieldReader) {
        coordinate = fields.coordinate()
        time = fields.time()
        // Units older than the status have a position or leave it empty.
        guard fields.count > 5 else {
            validity = coordinate == nil ? .noFix : nil
            return
        }
        validity = fields.letter() == UInt8(ascii: "A") ? .fix : .noFix
        if let mode = fields.letter(), !Mode.isFix(mode) { validity = .noFix }
    }

    // MARK: What goes with positions

    private mutating func parseGSA(_ fields: inout FieldReader) {
        fields.skip(1)
        switch fields.integer() {
        case 2: hasHeight = false
        case 3: hasHeight = true
        default: validity = .noFix
        }
        fields.skip(13)
        hdop = fields.hdop()
    }

    private mutating func parseGST(_ fields: inout FieldReader) {
        time = fields.time()
        fields.skip(4)
        guard let north = fields.number(in: 0...1e6), let east = fields.number(in: 0...1e6), north + east > 0 else {
            return
        }
        // 95 % of a circular normal distribution lie within 2.45 standard deviations.
        horizontalError = 2.45 * ((north * north + east * east) / 2).squareRoot()
    }

    private mutating func parseVTG(_ fields: inout FieldReader) {
        let isLettered = fields.count >= 8
        course = fields.course()
        fields.skip(isLettered ? 3 : 1)
        speed = fields.knots()
        if isLettered { fields.skip(1) }
        if let kilometresPerHour = fields.number(in: 0...36_000), speed == nil { speed = kilometresPerHour / 3.6 }
        if isLettered { fields.skip(1) }
        if let mode = fields.letter(), !Mode.isFix(mode) { (speed, course) = (nil, nil) }
        if speed == 0 && course == 0 { course = nil }
    }

    private mutating func parseZDA(_ fields: inout FieldReader) {
        time = fields.time()
        guard let day = fields.integer(), let month = fields.integer(), let year = fields.integer() else { return }
        date = ReceiverDate(year: .full(year), month: month, day: day)
    }

    private mutating func parsePGRME(_ fields: inout FieldReader) {
        // Garmin's figure holds half of the fixes; 2.08 times that radius holds 95 %.
        let half = fields.number(in: 0.01...1e6)
        if fields.letter() == UInt8(ascii: "M") { horizontalError = half.map { $0 * 2.08 } }
    }
}

extension Sentence.Kind {
    /// Reads a sentence's address: two letters for the talker, which is free, and three for the type.
    fileprivate init?(address: ArraySlice<UInt8>) {
        guard address.count == 5, let first = address.first else { return nil }
        if first == UInt8(ascii: "P") && !address.starts(with: "PQ".utf8) {
            guard address.elementsEqual("PGRME".utf8) else { return nil }
            self = .pgrme
            return
        }
        let type = address.suffix(3)
        switch (type[type.startIndex], type[type.startIndex + 1], type[type.startIndex + 2]) {
        case (UInt8(ascii: "G"), UInt8(ascii: "G"), UInt8(ascii: "A")): self = .gga
        case (UInt8(ascii: "R"), UInt8(ascii: "M"), UInt8(ascii: "C")): self = .rmc
        case (UInt8(ascii: "G"), UInt8(ascii: "N"), UInt8(ascii: "S")): self = .gns
        case (UInt8(ascii: "G"), UInt8(ascii: "L"), UInt8(ascii: "L")): self = .gll
        case (UInt8(ascii: "G"), UInt8(ascii: "S"), UInt8(ascii: "A")): self = .gsa
        case (UInt8(ascii: "G"), UInt8(ascii: "S"), UInt8(ascii: "T")): self = .gst
        case (UInt8(ascii: "V"), UInt8(ascii: "T"), UInt8(ascii: "G")): self = .vtg
        case (UInt8(ascii: "Z"), UInt8(ascii: "D"), UInt8(ascii: "A")): self = .zda
        default: return nil
        }
    }

    /// With fewer fields than this a sentence has been cut.
    fileprivate var fewestFields: Int {
        switch self {
        case .gga: 9
        case .rmc: 9
        case .gns: 8
        case .gll: 4
        case .gsa: 16
        case .gst: 7
        case .vtg: 4
        case .zda: 4
        case .pgrme: 2
        }
    }
}

/// The mode letters of NMEA 0183 2.3 and later.
private enum Mode {
    /// Autonomous, differential, precise, RTK fixed or float. The others: none, estimated, manual, simulator.
    static func isFix(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "A"), UInt8(ascii: "D"), UInt8(ascii: "P"), UInt8(ascii: "R"), UInt8(ascii: "F"): true
        default: false
        }
    }

    static func errorFactor(_ letter: UInt8) -> Double {
        switch letter {
        case UInt8(ascii: "D"): ErrorFactor.differential
        case UInt8(ascii: "R"): ErrorFactor.fixedRTK
        case UInt8(ascii: "F"): ErrorFactor.floatRTK
        default: ErrorFactor.none
        }
    }
}

/// What corrections make of the error. A quarter is gpsd's figure; the others are cautious guesses at RTK.
private enum ErrorFactor {
    static let none = 1.0
    static let differential = 1.0 / 4
    static let fixedRTK = 1.0 / 20
    static let floatRTK = 1.0 / 8
}

extension FieldReader {
    /// Receivers write 0, 50 or 99.99 for a dilution that they do not know.
    fileprivate mutating func hdop() -> Double? {
        guard let value = number(), value > 0, value < 50 else { return nil }
        return value
    }

    /// From below any sea to where balloons end.
    fileprivate mutating func altitude() -> Double? { number(in: -12_000...100_000) }

    /// One international knot is 1852 m/h.
    fileprivate mutating func knots() -> Double? { number(in: 0...20_000).map { $0 * 1852 / 3600 } }

    fileprivate mutating func course() -> Double? { number(in: 0...360).map { $0 == 360 ? 0 : $0 } }

    /// `ddmmyy`.
    fileprivate mutating func shortDate() -> ReceiverDate? {
        let text = bytes()
        guard text.count == 6, let value = Int(digits: text) else { return nil }
        return ReceiverDate(year: .ofCentury(value % 100), month: value / 100 % 100, day: value / 10000)
    }
}
