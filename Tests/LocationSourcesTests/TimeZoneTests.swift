import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite struct ZoneTableTests {
    private func coordinate(_ text: String) -> Coordinate? { ZoneTable.coordinate(Array(text.utf8)[...]) }

    private func near(_ place: Coordinate?, _ latitude: Double, _ longitude: Double) -> Bool {
        guard let place else { return false }
        return abs(place.latitude - latitude) < 1e-9 && abs(place.longitude - longitude) < 1e-9
    }

    @Test("a place is degrees and minutes, or degrees, minutes and seconds, each with its sign")
    func places() {
        #expect(near(coordinate("+5230+01322"), 52.5, 13 + 22 / 60.0))
        #expect(near(coordinate("-3352+15113"), -(33 + 52 / 60.0), 151 + 13 / 60.0))
        #expect(near(coordinate("+404251-0740023"), 40 + 42 / 60.0 + 51 / 3600.0, -(74 + 23 / 3600.0)))
        #expect(near(coordinate("-0022-00000"), -(22 / 60.0), 0))
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "+5230", "5230+01322", "+5230+1322", "+5260+01322", "+9100+01322", "+5230+18100", "+5230+0132a",
            "+5230 01322", "+523060+0132200", "+52 30+01322", "+٥230+01322", "++230+01322", "+5230+01322+",
        ])
    func garbage(text: String) {
        #expect(coordinate(text) == nil)
    }

    @Test("a zone is found by its whole name, whatever else stands in the table")
    func zones() {
        let table = Array(
            """
            # comment\tEurope/Berlin\tEurope/Berlin
            DE,DK\t+5230+01322\tEurope/Berlin\tmost of it
            XX\tnonsense\tEurope/Nowhere
            XX
            \t\t
            US\t+404251-0740023\tAmerica/New_York
            """.utf8)

        #expect(near(ZoneTable.place(of: "Europe/Berlin", in: table), 52.5, 13 + 22 / 60.0))
        #expect(ZoneTable.place(of: "America/New_York", in: table) != nil)
        for zone in ["Europe", "Europe/Berlin\tmost of it", "Europe/Nowhere", "", "DE,DK", "europe/berlin"] {
            #expect(ZoneTable.place(of: zone, in: table) == nil)
        }
    }

    @Test("another name for a zone leads to it")
    func names() {
        let data = Array(
            "# version 2025a\nR C 1916 o\nL Europe/Kyiv Europe/Kiev\nL America/Los_Angeles US/Pacific\nL x\n".utf8)

        #expect(ZoneTable.zone(behind: "Europe/Kiev", in: data) == "Europe/Kyiv")
        #expect(ZoneTable.zone(behind: "US/Pacific", in: data) == "America/Los_Angeles")
        #expect(ZoneTable.zone(behind: "Europe/Kyiv", in: data) == nil)
    }

    @Test("noise is no table", arguments: 0..<50)
    func noise(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        let bytes = (0..<2000).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return [9, 10, 0x20, 0x2B, 0x30, 0x35, 0x4C, 0xFF][Int(state >> 61)]
        }

        #expect(ZoneTable.place(of: "Europe/Berlin", in: bytes) == nil)
        #expect(ZoneTable.zone(behind: "Europe/Berlin", in: bytes) == nil)
    }
}

@Suite(.timeLimit(.minutes(1))) struct TimeZoneSourceTests {
    init() { EventLoop.startThread() }

    /// A source with a link and a database of its own.
    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
        let link: String
        let source: FilePlaceSource
        let reports: Reports

        private static let tables = [
            "zone1970.tab": "DE,DK,NO,SE\t+5230+01322\tEurope/Berlin\nUA\t+5026+03031\tEurope/Kyiv\n",
            "zone.tab": "DE\t+5230+01322\tEurope/Berlin\nNO\t+5955+01045\tEurope/Oslo\n",
            "tzdata.zi": "L Europe/Kyiv Europe/Kiev\nL Etc/UTC UTC\n",
        ]

        init(_ target: String?, tables: [String] = ["zone1970.tab", "zone.tab", "tzdata.zi"]) throws {
            try FileManager.default.createDirectory(
                at: folder.appending(path: "zoneinfo"), withIntermediateDirectories: true)
            for table in tables {
                try Data((Self.tables[table] ?? "").utf8).write(to: folder.appending(path: "zoneinfo/\(table)"))
            }
            link = folder.appending(path: "localtime").path
            source = FilePlaceSource.timeZone(
                link: link, database: folder.appending(path: "zoneinfo").path, clock: clock)
            if let target { try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target) }
            source.discover()
            reports = Reports(of: source)
        }

        /// As timedatectl does it: another link takes the name.
        func set(_ target: String) throws {
            let next = folder.appending(path: "next").path
            try FileManager.default.createSymbolicLink(atPath: next, withDestinationPath: target)
            rename(next, link)
        }

        isolated deinit { try? FileManager.default.removeItem(at: folder) }
    }

    @Test("the zone's city is told once when the source starts, as good as the country")
    @ServiceActor
    func start() async throws {
        let bench = try Bench("/usr/share/zoneinfo/Europe/Berlin")
        #expect(bench.source.availableLevel == .country)
        #expect(bench.clock.pendingTimers == 0)

        bench.source.run(for: .exact)
        bench.source.run(for: Demand(level: .city, minimumInterval: 0))

        let fixes = bench.reports.all.compactMap(\.fix)
        try #require(fixes.count == 1)
        #expect(fixes[0].coordinate == Coordinate(latitude: 52.5, longitude: 13 + 22 / 60.0))
        #expect(fixes[0].horizontalAccuracy == 300_000)
        #expect(fixes[0].kind == .timezone && fixes[0].source == "time-zone")
        #expect(fixes[0].measuredAt == bench.clock.now)
    }

    @Test(
        "a link may lead there by other ways, and a zone may have another name or share another one's clock",
        arguments: [
            "../usr/share/zoneinfo/Europe/Berlin", "/usr/share/zoneinfo/posix/Europe/Berlin",
            "/etc/zoneinfo/right/Europe/Berlin", "/usr/share/zoneinfo/Europe/Oslo", "zoneinfo/Europe/Kiev",
        ])
    @ServiceActor
    func ways(target: String) throws {
        #expect(try Bench(target).source.availableLevel == .country)
    }

    @Test(
        "a zone that is nowhere, and a link that leads nowhere, are no place",
        arguments: [
            "/usr/share/zoneinfo/Etc/UTC", "/usr/share/zoneinfo/UTC", "/usr/share/zoneinfo/Etc/GMT+5",
            "/usr/share/zoneinfo/", "/usr/share/zoneinfo/Europe", "/dev/null", "zoneinfo/posix",
            "/usr/share/zoneinfo/../../../etc/passwd", Sample("zoneinfo/\(String(repeating: "x/", count: 1000))"),
        ] as [Sample])
    @ServiceActor
    func nowhere(target: Sample) throws {
        let bench = try Bench(target.text)

        bench.source.run(for: .exact)

        #expect(bench.source.availableLevel == .none && bench.reports.all.isEmpty)
    }

    @Test("no link, a file in its place and a missing table are no place")
    @ServiceActor
    func missing() throws {
        let link = try Bench(nil)
        #expect(link.source.availableLevel == .none)
        let file = try Bench(nil)
        try Data("TZif2".utf8).write(to: URL(filePath: file.link))
        let source = FilePlaceSource.timeZone(link: file.link, database: file.folder.path, clock: file.clock)
        source.discover()
        #expect(source.availableLevel == .none)

        #expect(try Bench("/usr/share/zoneinfo/Europe/Berlin", tables: []).source.availableLevel == .none)
        #expect(try Bench("/usr/share/zoneinfo/Europe/Berlin", tables: ["zone.tab"]).source.availableLevel == .country)
    }

    @Test("a journey to another zone is another place, one to nowhere is a loss, and what comes late is seen")
    @ServiceActor
    func journey() async throws {
        let bench = try Bench("/usr/share/zoneinfo/Europe/Berlin")
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()

        await bench.clock.advance(by: .seconds(2))
        try bench.set("/usr/share/zoneinfo/Europe/Oslo")
        #expect(try await bench.reports.nextFix().coordinate.longitude == 10.75)
        await bench.clock.advance(by: .seconds(2))
        try bench.set("/usr/share/zoneinfo/UTC")
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.next() == .lost(source: "time-zone"))
        await bench.clock.advance(by: .seconds(2))
        try bench.set("/usr/share/zoneinfo/Europe/Kyiv")

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.nextFix().coordinate.latitude == 50 + 26 / 60.0)
    }

    @Test("a link that changes all the time is read once a second")
    @ServiceActor
    func often() async throws {
        let bench = try Bench("/usr/share/zoneinfo/Europe/Berlin")
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()

        for zone in ["Oslo", "Berlin", "Kyiv", "Berlin", "Oslo"] { try bench.set("/usr/share/zoneinfo/Europe/\(zone)") }
        await until { bench.clock.pendingTimers == 1 }
        #expect(bench.reports.all.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.reports.all.compactMap(\.fix).map(\.coordinate.longitude).last == 10.75)
        #expect(bench.reports.all.count == 2 && bench.clock.pendingTimers == 0)
    }

    @Test("an address's place is preferred, and the zone's stands in where there is none")
    @ServiceActor
    func besideAddress() throws {
        let bench = try Bench("/usr/share/zoneinfo/Europe/Berlin")
        let address = ScriptedSource("ip", kind: .ip, level: .city, clock: bench.clock)
        let positioner = Positioner(sources: [bench.source, address], clock: bench.clock)

        positioner.demand = Demand(level: .city, minimumInterval: 0)
        #expect(positioner.position.fine?.kind == .timezone && address.isRunning)
        address.send(48.1, 11.5, accuracy: 25_000)
        #expect(positioner.position.fine?.kind == .ip)
        address.lose()

        #expect(positioner.position.fine?.kind == .timezone)
    }
}
