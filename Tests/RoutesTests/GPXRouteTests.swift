import Geolocation
import LocationTestSupport
import Routes
import Testing

@Suite struct GPXRouteTests {
    private func route(_ body: String) throws -> Route {
        try Route(parsing: Array("<?xml version=\"1.0\"?>\n<gpx>\n\(body)\n</gpx>".utf8), file: "way.gpx")
    }

    private func fault(_ body: String) -> RouteFault? {
        do {
            _ = try route(body)
            return nil
        } catch {
            return error as? RouteFault
        }
    }

    private func point(_ time: String?, longitude: String = "20.0", extra: String = "") -> String {
        "<trkpt lat=\"10.5\" lon=\"\(longitude)\">\(time.map { "<time>\($0)</time>" } ?? "")\(extra)</trkpt>\n"
    }

    @Test("a track's points come at the times between them")
    func track() throws {
        let route = try route(
            "<trk><trkseg>" + point("2026-06-01T12:00:00Z") + point("2026-06-01T12:00:01.500Z", longitude: "20.001")
                + "</trkseg><trkseg>" + point("2026-06-01T14:02:00+02:00", longitude: "20.002") + "</trkseg></trk>")

        #expect(route.points.map(\.offset) == [.zero, .milliseconds(1500), .seconds(120)])
        #expect(route.points.map(\.coordinate.longitude) == [20, 20.001, 20.002])
        #expect(route.duration == .seconds(120))
    }

    @Test("height, dilution, and an extension's speed and course are taken over")
    func quantities() throws {
        let extra = """
            <ele> -3.2 </ele><hdop>1.5</hdop><extensions><gpxtpx:TrackPointExtension>
            <gpxtpx:speed>5.14</gpxtpx:speed><gpxtpx:course>360</gpxtpx:course>
            </gpxtpx:TrackPointExtension></extensions>
            """
        let route = try route("<trk><trkseg>" + point("2026-06-01T12:00:00Z", extra: extra) + "</trkseg></trk>")

        let point = try #require(route.points.first)
        #expect(point.altitude == -3.2 && point.horizontalAccuracy == 28.5)
        #expect(point.speed == 5.14 && point.heading == 0)
    }

    @Test("of several points at one time the first counts")
    func sameTime() throws {
        let route = try route(
            "<trk><trkseg>" + point("2026-06-01T12:00:00Z") + point("2026-06-01T12:00:00Z", longitude: "21")
                + "</trkseg></trk>")

        #expect(route.points.count == 1)
    }

    @Test("a way without times is gone at an even pace, a point each second, across the 180th meridian too")
    func drawn() throws {
        let route = try route(
            "<rte><rtept lat=\"0\" lon=\"179.999\"/><rtept lat=\"0\" lon=\"-179.999\"/></rte>")

        try #require(route.points.count == 24)
        #expect(route.points.allSatisfy { abs($0.coordinate.longitude) >= 179.999 })
        #expect(route.points[1].speed == 10 && abs((route.points[1].heading ?? 0) - 90) < 0.01)
        #expect(route.points[1].offset == .seconds(1))
        #expect(route.duration > .seconds(22) && route.duration < .seconds(23))
    }

    @Test("what is recorded comes before what is drawn")
    func both() throws {
        let route = try route(
            "<rte><rtept lat=\"1\" lon=\"1\"/></rte><trk><trkseg>" + point("2026-06-01T12:00:00Z")
                + "</trkseg></trk>")

        #expect(route.points.map(\.coordinate.latitude) == [10.5])
    }

    @Test(
        "a fault names its line",
        arguments: [
            ("<trk><trkseg><trkpt lat=\"91\" lon=\"0\"/></trkseg></trk>", RouteFault.Problem.badCoordinate, 3),
            ("<trk><trkseg>\n<trkpt lat=\"nan\" lon=\"0\"/></trkseg></trk>", .badCoordinate, 4),
            ("<trk><trkseg>\n\n<trkpt lat=\"1\"/></trkseg></trk>", .badCoordinate, 5),
            ("<trk><trkpt lat=\"1\" lon=\"1\"><time>yesterday</time></trkpt></trk>", .badTime, 3),
            ("<trk><trkpt lat=\"1\" lon=\"1\"><time>2026-02-30T12:00:00Z</time></trkpt></trk>", .badTime, 3),
            (
                "<trk><trkpt lat=\"1\" lon=\"1\">\n<ele>0x10</ele></trkpt></trk>",
                .badNumber(element: "ele"), 4
            ),
        ] as [(Sample, RouteFault.Problem, Int)])
    func faults(body: Sample, problem: RouteFault.Problem, line: Int) throws {
        let found = try #require(fault(body.text))

        #expect(found.problem == problem)
        #expect(found.line == line)
        #expect(found.description.hasPrefix("way.gpx:\(line): "))
    }

    @Test("times that go back, and points without one among others, are faults")
    func times() {
        let back = fault(
            "<trk><trkseg>\n" + point("2026-06-01T12:00:01Z") + point("2026-06-01T12:00:00Z") + "</trkseg></trk>")
        let missing = fault("<trk><trkseg>\n" + point("2026-06-01T12:00:01Z") + point(nil) + "</trkseg></trk>")

        #expect(back?.problem == .timeGoesBack && back?.line == 5)
        #expect(missing?.problem == .timeMissing && missing?.line == 5)
    }

    @Test("a file that ends too early is not well-formed")
    func cut() throws {
        #expect(throws: RouteFault.self) {
            try Route(parsing: Array("<gpx><trk>\n<trkpt lat=\"1\"".utf8), file: "way.gpx")
        }
    }

    @Test("another document, one with a document type, and one without positions are refused")
    func strangers() {
        func problem(_ text: String) -> RouteFault.Problem? {
            do {
                _ = try Route(parsing: Array(text.utf8), file: "x")
                return nil
            } catch {
                return error.problem
            }
        }

        #expect(problem("<kml><trkpt lat=\"1\" lon=\"1\"/></kml>") == .notGPX)
        #expect(problem("<!DOCTYPE gpx [<!ENTITY a \"b\">]><gpx>&a;</gpx>") == .documentType)
        #expect(problem("<gpx></gpx>") == .noPositions)
        #expect(problem("") == .noPositions)
    }
}
