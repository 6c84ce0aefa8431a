import Geolocation

/// Reads the comma-separated fields of one sentence from left to right. An empty field is `nil`, not zero.
struct FieldReader {
    private var rest: ArraySlice<UInt8>
    private var isAtEnd = false

    /// How many fields there are, empty ones included.
    let count: Int

    init(_ fields: ArraySlice<UInt8>) {
        rest = fields
        count = fields.reduce(1) { $1 == UInt8(ascii: ",") ? $0 + 1 : $0 }
    }

    /// The next field's bytes without spaces around them; empty also after the last one.
    mutating func bytes() -> ArraySlice<UInt8> {
        guard !isAtEnd else { return [] }
        var field = rest
        if let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
            field = rest[..<comma]
            rest = rest[(comma + 1)...]
        } else {
            isAtEnd = true
        }
        while field.first == UInt8(ascii: " ") { field.removeFirst() }
        while field.last == UInt8(ascii: " ") { field.removeLast() }
        return field
    }

    mutating func skip(_ fields: Int) {
        for _ in 0..<fields { _ = bytes() }
    }

    /// A field of one letter, in upper case.
    mutating func letter() -> UInt8? {
        let field = bytes()
        guard field.count == 1, let letter = field.first else { return nil }
        return letter >= UInt8(ascii: "a") ? letter & ~0x20 : letter
    }

    /// A whole number of at most nine digits.
    mutating func integer() -> Int? { Int(digits: bytes()) }

    mutating func number() -> Double? { Decimal(bytes())?.value }

    /// A number in a range; what lies outside is no measurement.
    mutating func number(in range: ClosedRange<Double>) -> Double? {
        guard let value = number(), range.contains(value) else { return nil }
        return value
    }

    /// `hhmmss` with any number of decimals.
    mutating func time() -> TimeOfDay? { TimeOfDay(bytes()) }

    /// Four fields: latitude `ddmm.mmm`, N or S, longitude `dddmm.mmm`, E or W.
    mutating func coordinate() -> Coordinate? {
        let latitude = Decimal(bytes())?.degrees
        let northOrSouth = letter()
        let longitude = Decimal(bytes())?.degrees
        let eastOrWest = letter()
        guard let latitude, let longitude else { return nil }
        let isSouth: Bool
        switch northOrSouth {
        case UInt8(ascii: "N"): isSouth = false
        case UInt8(ascii: "S"): isSouth = true
        default: return nil
        }
        switch eastOrWest {
        case UInt8(ascii: "E"): return Coordinate(latitude: isSouth ? -latitude : latitude, longitude: longitude)
        case UInt8(ascii: "W"): return Coordinate(latitude: isSouth ? -latitude : latitude, longitude: -longitude)
        default: return nil
        }
    }
}

/// A decimal number as NMEA writes it: sign, digits, point, digits. No exponent, no NaN.
struct Decimal: Equatable {
    /// All digits, without the point.
    private let mantissa: Int64
    private let decimals: Int
    private let isNegative: Bool

    /// - Returns: `nil` for anything else, and for more than 18 digits.
    init?(_ text: ArraySlice<UInt8>) {
        var mantissa: Int64 = 0
        var digits = 0
        var decimals: Int?
        var text = text
        isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { text.removeFirst() }
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard digits < 18 else { return nil }
                digits += 1
                mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
                if let count = decimals { decimals = count + 1 }
            case UInt8(ascii: ".") where decimals == nil:
                decimals = 0
            default:
                return nil
            }
        }
        guard digits > 0 else { return nil }
        self.mantissa = mantissa
        self.decimals = decimals ?? 0
    }

    var value: Double {
        let value = Double(mantissa) / Double(Self.powers[decimals])
        return isNegative ? -value : value
    }

    /// The angle that `dddmm.mmm` writes: all but the last two digits before the point are degrees, the rest minutes.
    var degrees: Double? {
        let hundred = 100 * Self.powers[min(decimals, 16)]
        let (whole, minutes) = mantissa.quotientAndRemainder(dividingBy: hundred)
        let part = Double(minutes) / Double(Self.powers[decimals])
        guard !isNegative, decimals <= 16, part < 60 else { return nil }
        return Double(whole) + part / 60
    }

    private static let powers: [Int64] = (0...18).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}

extension Int {
    /// One to nine digits and nothing else.
    package init?(digits text: ArraySlice<UInt8>) {
        guard (1...9).contains(text.count) else { return nil }
        var value = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        self = value
    }
}
