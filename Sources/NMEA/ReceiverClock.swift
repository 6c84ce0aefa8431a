import Geolocation

/// Makes a timestamp of what a receiver says about the time.
package enum ReceiverClock {
    /// - Parameters:
    ///   - wallTime: the system clock at arrival, in microseconds since the epoch.
    /// - Returns: the receiver's own time. Where it has told no date, the latest day that does not put the fix more
    ///   than a minute into the system clock's future; where it has told no time, the system clock's.
    package static func timestamp(time: TimeOfDay?, day: CalendarDay?, wallTime: Int64) -> Timestamp {
        guard let time else { return Timestamp(microseconds: wallTime) }
        if let day {
            return Timestamp(microseconds: Int64(day.sinceEpoch) * microsecondsADay + time.microseconds)
        }
        let latest = wallTime + 60_000_000
        let midnight = latest - floorModulo(latest, microsecondsADay)
        let today = midnight + time.microseconds
        return Timestamp(microseconds: today > latest ? today - microsecondsADay : today)
    }

    private static let microsecondsADay: Int64 = 86_400_000_000

    private static func floorModulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
