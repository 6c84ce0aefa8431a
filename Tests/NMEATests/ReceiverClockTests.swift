import Geolocation
import Testing

@testable import NMEA

@Suite struct ReceiverClockTests {
    /// 2026-06-01T00:00:00Z.
    private let midnight: Int64 = 1_780_272_000_000_000

    private func offset(_ hours: Int64, _ minutes: Int64, _ seconds: Int64, at wall: Int64) -> Int64 {
        let time = TimeOfDay(microseconds: (hours * 3600 + minutes * 60 + seconds) * 1_000_000)
        let stamp = ReceiverClock.timestamp(time: time, day: nil, wallTime: midnight + wall * 1_000_000)
        return (stamp.microseconds - midnight) / 1_000_000
    }

    @Test("a time without a date is today's, or yesterday's where today's is more than a minute ahead")
    func withoutDate() {
        #expect(offset(11, 56, 0, at: 43200) == 42960)
        #expect(offset(12, 1, 0, at: 43200) == 43260)
        #expect(offset(12, 1, 1, at: 43200) == 43261 - 86400)
    }

    @Test("around midnight the day is the one that makes sense")
    func midnights() {
        #expect(offset(23, 59, 58, at: 5) == -2)
        #expect(offset(0, 0, 2, at: -2) == 2)
        #expect(offset(0, 0, 0, at: 0) == 0)
    }

    @Test("the receiver's own date is told as it is, whatever the system clock says")
    func withDate() throws {
        let day = try #require(CalendarDay(year: 2019, month: 4, day: 6))
        let stamp = ReceiverClock.timestamp(time: TimeOfDay(microseconds: 1), day: day, wallTime: midnight)

        #expect(stamp.microseconds == 1_554_508_800_000_001)
    }

    @Test("without a time it is the time of arrival")
    func withoutTime() {
        #expect(ReceiverClock.timestamp(time: nil, day: nil, wallTime: midnight) == Timestamp(microseconds: midnight))
    }
}
