import EventLoop
import Geolocation
import Glibc
import LocationTestSupport
import NMEATestSupport
import Routes
import Testing

@Suite struct NMEARouteTests {
    private func route(_ text: String) throws -> Route {
        try Route(parsing: Array(text.utf8), file: "drive.nmea")
    }

    @Test("each epoch is a point, and an epoch without a fix is a gap")
    func epochs() throws {
        let route = try route(
            "# a comment\n" + gga("120000") + rmc("120000") + gga("120001", quality: "0") + rmc("120001", status: "V")
                + gga("120002.5", minutes: "01.0000") + rmc("120002.5", minutes: "01.0000"))

        try #require(route.points.map(\.offset) == [.zero, .milliseconds(2500)])
        #expect(route.points[1].coordinate.longitude == 20 + 1.0 / 60)
        #expect(route.points[0].horizontalAccuracy == 19 && route.points[0].altitude == 55.5)
        #expect(route.points[0].heading == 90)
    }

    @Test("midnight is a second like any other, with and without a date")
    func midnight() throws {
        let undated = try route(gga("235959") + gga("000000"))
        let dated = try route(rmc("235959", date: "010626") + rmc("000001", date: "020626"))

        #expect(undated.points.map(\.offset) == [.zero, .seconds(1)])
        #expect(dated.points.map(\.offset) == [.zero, .seconds(2)])
    }

    @Test("a clock that is set back costs a second")
    func back() throws {
        let route = try route(gga("120010") + gga("120005") + gga("120006"))

        #expect(route.points.map(\.offset) == [.zero, .seconds(1), .seconds(2)])
    }

    @Test("a file without positions says so, and one that is not there, a folder and a pipe name themselves")
    func nothing() throws {
        func problem(_ path: String) -> RouteFault.Problem? {
            do {
                _ = try Route.load(path)
                return nil
            } catch {
                #expect(error.description.hasPrefix(path))
                return error.problem
            }
        }
        let pipe = TestFolder.unused("fifo").path
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }

        #expect(throws: RouteFault.self) { try self.route("nothing here\n") }
        #expect(problem("/nonexistent/way.gpx") == .unreadable(.failed(ENOENT)))
        #expect(problem("/tmp") == .unreadable(.notRegular))
        #expect(problem(pipe) == .unreadable(.notRegular))
    }
}
