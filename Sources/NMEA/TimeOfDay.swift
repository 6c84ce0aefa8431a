/// Time since midnight UTC, as a receiver says it.
package struct TimeOfDay: Sendable, Hashable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Reads `hhmmss` with any number of decimals; those beyond the sixth are dropped. A leap second is second 60.
    package init?(_ text: ArraySlice<UInt8>) {
        let start = text.startIndex
        guard text.count >= 6, let whole = Int(digits: text[start..<start + 6]) else { return nil }
        let (hours, minutes, seconds) = (whole / 10000, whole / 100 % 100, whole % 100)
        guard hours < 24, minutes < 60, seconds <= 60 else { return nil }
        var fraction: Int64 = 0
        if text.count > 6 {
            guard text[start + 6] == UInt8(ascii: ".") else { return nil }
            var unit: Int64 = 100_000
            for byte in text[(start + 7)...] {
                guard let digit = Int(digits: [byte]) else { return nil }
                fraction += Int64(digit) * unit
                unit /= 10
            }
        }
        microseconds = Int64(hours * 3600 + minutes * 60 + seconds) * 1_000_000 + fraction
    }

    package static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }
}
