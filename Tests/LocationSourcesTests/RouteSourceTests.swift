import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Routes
import Testing

@testable import LocationSources

@Suite struct RouteSourceTests {
    init() { EventLoop.startThread() }

    /// At 0, 1, 61 and 62 s of its time.
    private func route() throws -> Route {
        let text =
            rmc("120000") + rmc("120001", minutes: "00.0100") + rmc("120101", minutes: "00.0200")
            + rmc("120102", minutes: "00.0300")
        return try Route(parsing: Array(text.utf8), file: "drive.nmea")
    }

    @Test("a route is played in its own time, marked as simulated, and a long gap is a loss")
    @ServiceActor
    func played() async throws {
        let clock = ManualClock()
        let source = RouteSource(route: try route(), clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .seconds(62))

        let fixes = reports.all.compactMap(\.fix)
        try #require(reports.all.count == 5)
        #expect(fixes.map(\.measuredAt) == [1000, 1001, 1061, 1062].map { .seconds($0) })
        #expect(fixes.allSatisfy { $0.isSimulated && $0.kind == .gnss && $0.source == "simulation" })
        #expect(fixes.first?.coordinate == Coordinate(latitude: 10.5, longitude: 20))
        #expect(reports.all.filter { $0 == .lost(source: "simulation") }.count == 1)
        #expect(reports.all[2] == .lost(source: "simulation"))
    }

    @Test("played faster it takes less time and moves faster")
    @ServiceActor
    func faster() async throws {
        let clock = ManualClock()
        let source = RouteSource(route: try route(), speed: 10, clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .milliseconds(6200))

        let fixes = reports.all.compactMap(\.fix)
        #expect(fixes.map { $0.measuredAt - .seconds(1000) } == [0, 100, 6100, 6200].map { .milliseconds($0) })
        #expect(abs((fixes.first?.speed ?? 0) - 51.444) < 0.001)
    }

    @Test("at its end it begins again, after so long that no speed comes of it")
    @ServiceActor
    func again() async throws {
        let clock = ManualClock()
        let source = RouteSource(route: try route(), clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .seconds(62) + RouteSource.roundPause + .seconds(1))

        let fixes = reports.all.compactMap(\.fix)
        try #require(fixes.count == 6)
        #expect(fixes[4].coordinate == fixes[0].coordinate && fixes[5].coordinate == fixes[1].coordinate)
    }

    @Test("it stands still while nobody looks, and goes on from there")
    @ServiceActor
    func paused() async throws {
        let clock = ManualClock()
        let source = RouteSource(route: try route(), clock: clock)
        let reports = Reports(of: source)
        source.run(for: .exact)
        await clock.advance(by: .seconds(31))

        source.run(for: nil)
        #expect(clock.pendingTimers == 0)
        await clock.advance(by: .seconds(600))
        source.run(for: .exact)
        await clock.advance(by: .seconds(29))
        #expect(reports.all.compactMap(\.fix).count == 2)
        await clock.advance(by: .seconds(1))

        #expect(reports.all.compactMap(\.fix).count == 3)
    }

    @Test("a route of one point is a place that is told again and again")
    @ServiceActor
    func onePoint() async throws {
        let clock = ManualClock()
        let source = RouteSource(
            route: try Route(parsing: Array(rmc("120000").utf8), file: "place.nmea"), clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: RouteSource.roundPause * 2)

        #expect(reports.all.compactMap(\.fix).count == 3)
    }
}
