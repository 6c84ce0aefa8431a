import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import Authorization

/// Who has used the service, and when.
@Suite struct AccessHistoryTests {
    init() { EventLoop.startThread() }

    @Test("uses are counted by day with the finest level, but not those of the portal")
    @ServiceActor
    func uses() async {
        let desk = Desk()
        let portal = Requester(
            userID: 1, application: ApplicationIdentity(trust: .host, id: "xdg-desktop-portal"), isPortal: true,
            hasSession: true)

        desk.authorizer.noteUse(of: Desk.requester(), at: .city)
        desk.authorizer.noteUse(of: Desk.requester(), at: .exact)
        desk.authorizer.noteUse(of: portal, at: .exact)
        await desk.clock.advance(by: .seconds(86_400))
        desk.authorizer.noteUse(of: Desk.requester(), at: .city)

        let days = desk.authorizer.history.days(of: 1, Desk.maps.key)
        #expect(desk.authorizer.history.keys(of: 1) == [Desk.maps.key])
        #expect(
            days.map { "\($0.key) \($0.value.count) \($0.value.finestLevel)" }.sorted() == [
                "2026-06-01 2 exact", "2026-06-02 1 city",
            ])
    }

    @Test("ids without end do not fill the history")
    func historyLimit() {
        var history = AccessHistory()
        let day = AccessHistory.Day(number: 0)
        for number in 0..<(AccessHistory.maximumApplications + 5) {
            _ = history.note(.exact, by: "claimed:\(number)", of: 1, on: day)
        }

        #expect(history.keys(of: 1).count == AccessHistory.maximumApplications)
        #expect(history.note(.exact, by: "claimed:0", of: 1, on: day)?.uses.count == 2)
    }

    @Test(
        "days have the dates of the calendar",
        arguments: [
            (0, "1970-01-01"), (-1, "1969-12-31"), (11_016, "2000-02-29"), (20_605, "2026-06-01"),
            (20_787, "2026-11-30"), (-719_468, "0000-03-01"), (2_932_896, "9999-12-31"),
        ])
    func dates(number: Int64, text: String) {
        #expect("\(AccessHistory.Day(number: number))" == text)
        #expect(AccessHistory.Day(of: Timestamp(seconds: number * 86_400 + 86_399)).number == number)
    }
}
