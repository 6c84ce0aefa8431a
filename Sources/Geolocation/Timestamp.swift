/// An instant in microseconds since the Unix epoch, UTC.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package init(seconds: Int64) { microseconds = seconds * 1_000_000 }

    /// Whole seconds since the epoch, rounded down.
    package var seconds: Int64 { microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000 }

    package static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }
}
