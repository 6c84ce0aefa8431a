/// A day of the Gregorian calendar, counted from 1970-01-01.
package struct CalendarDay: Sendable, Hashable, Comparable {
    package var sinceEpoch: Int

    package init(sinceEpoch: Int) { self.sinceEpoch = sinceEpoch }

    /// - Returns: `nil` for a day that no calendar has.
    package init?(year: Int, month: Int, day: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        let past = year - 1
        let yearStart = past * 365 + past / 4 - past / 100 + past / 400 - 719_162
        sinceEpoch = yearStart + lengths[..<(month - 1)].reduce(0, +) + day - 1
    }

    package static func < (left: Self, right: Self) -> Bool { left.sinceEpoch < right.sinceEpoch }

    /// The day that a receiver means whose week number has rolled over: GPS counts weeks modulo 1024 (IS-GPS-200,
    /// 20.3.3.3.1.1), so a day of long ago is the same day 1024 weeks later.
    ///
    /// - Parameter known: a day that has certainly passed; what lies 512 weeks before it has rolled over.
    func correctingRollover(known: CalendarDay = .certainlyPast) -> CalendarDay {
        sinceEpoch < known.sinceEpoch - 512 * 7 ? CalendarDay(sinceEpoch: sinceEpoch + 1024 * 7) : self
    }

    /// A day before which this program did not exist: 2026-01-01.
    static let certainlyPast = CalendarDay(sinceEpoch: 20454)
}
