import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite struct FixedPlaceTests {
    private func fault(_ text: String) -> FixedPlace.Fault? {
        do throws(FixedPlace.Fault) {
            _ = try FixedPlace(parsing: text.utf8)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "four numbers are a place, whatever stands around them",
        arguments: [
            "10.5\n20.5\n55\n30\n", "10.5\r\n20.5\r\n55\r\n30\r\n", "# home\n\n 10.5 # north\n\t20.5\n+55.0\n3e1",
            "10.5\n20.5\n55\n30\nwhatever follows\n",
        ] as [Sample])
    func place(text: Sample) throws {
        let place = try FixedPlace(parsing: text.text.utf8)

        #expect(place.coordinate == Coordinate(latitude: 10.5, longitude: 20.5))
        #expect(place.altitude == 55 && place.horizontalAccuracy == 30)
    }

    @Test("anything else is refused, with the line that is wrong")
    func faults() {
        #expect(fault("") == .incomplete)
        #expect(fault("10.5\n20.5\n55\n") == .incomplete)
        #expect(fault("10.5\n20,5\n55\n30\n") == .notANumber(line: 2))
        #expect(fault("10.5 20.5\n55\n30\n") == .notANumber(line: 1))
        #expect(fault("# here\n10.5\nnan\n55\n30\n") == .notANumber(line: 3))
        #expect(fault("0x10\n20.5\n55\n30\n") == .notANumber(line: 1))
        #expect(fault("90.1\n20.5\n55\n30\n") == .outOfRange(line: 1))
        #expect(fault("10.5\n-180.1\n55\n30\n") == .outOfRange(line: 2))
        #expect(fault("10.5\n20.5\n1e300\n30\n") == .outOfRange(line: 3))
        #expect(fault("10.5\n20.5\n55\n-1\n") == .outOfRange(line: 4))
        #expect(fault("\u{0}\u{FF}\n") == .notANumber(line: 1))
    }
}

@Suite(.timeLimit(.minutes(1))) struct FixedPlaceSourceTests {
    init() { EventLoop.startThread() }

    /// A source in a folder of its own.
    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
        let source: FilePlaceSource
        let reports: Reports

        init(_ text: String? = nil) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            source = FilePlaceSource.fixed(folder.appending(path: "geolocation").path, clock: clock)
            if let text {
                try Data(text.utf8).write(to: folder.appending(path: "geolocation"))
            }
            source.discover()
            reports = Reports(of: source)
        }

        /// As an editor does it: another file takes the name.
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: "geolocation"), options: .atomic)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder.appending(path: "geolocation")) }

        isolated deinit { try? FileManager.default.removeItem(at: folder) }
    }

    private static let home = "10.5\n20.5\n55\n30\n"

    @Test("the place is told once when the source starts, with the time of then")
    @ServiceActor
    func start() async throws {
        let bench = try Bench(Self.home)
        #expect(bench.source.availableLevel == .exact)
        #expect(bench.clock.pendingTimers == 0)
        await bench.clock.advance(by: .seconds(500))

        bench.source.run(for: .exact)
        bench.source.run(for: Demand(level: .city, minimumInterval: 0))

        let fixes = bench.reports.all.compactMap(\.fix)
        try #require(fixes.count == 1)
        #expect(fixes[0].coordinate == Coordinate(latitude: 10.5, longitude: 20.5))
        #expect(fixes[0].altitude == 55 && fixes[0].horizontalAccuracy == 30)
        #expect(fixes[0].kind == .fixed && fixes[0].source == "static" && !fixes[0].isSimulated)
        #expect(fixes[0].measuredAt == bench.clock.now)
        #expect(fixes[0].timestamp == Timestamp(microseconds: bench.clock.wallTime))
    }

    @Test("an edit is a new place, and a removed file is a lost one")
    @ServiceActor
    func edited() async throws {
        let bench = try Bench(Self.home)
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()

        await bench.clock.advance(by: .seconds(2))
        try bench.write("11.0\n21.0\n55\n30\n")
        #expect(try await bench.reports.nextFix().coordinate == Coordinate(latitude: 11, longitude: 21))
        await bench.clock.advance(by: .seconds(2))
        try bench.remove()

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.next() == .lost(source: "static"))
        #expect(bench.source.availableLevel == .none)
    }

    @Test("a file written in place counts when its writer closes it")
    @ServiceActor
    func inPlace() async throws {
        let bench = try Bench(Self.home)
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()
        await bench.clock.advance(by: .seconds(2))

        let file = try FileHandle(forWritingTo: bench.folder.appending(path: "geolocation"))
        try file.write(contentsOf: Data("12.0".utf8))
        try file.close()

        #expect(try await bench.reports.nextFix().coordinate == Coordinate(latitude: 12, longitude: 20.5))
    }

    @Test("nonsense takes the place away, and a good file brings one back")
    @ServiceActor
    func nonsense() async throws {
        let bench = try Bench(Self.home)
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()

        await bench.clock.advance(by: .seconds(2))
        try bench.write("somewhere\n")
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.next() == .lost(source: "static"))
        await bench.clock.advance(by: .seconds(2))
        try bench.write("# home\r\n10.5\r\n20.5\r\n0\r\n30\r\n")

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.nextFix().altitude == 0)
    }

    @Test("a file that changes all the time is read once a second")
    @ServiceActor
    func often() async throws {
        let bench = try Bench(Self.home)
        bench.source.run(for: .exact)
        _ = try await bench.reports.nextFix()

        for minute in 0..<5 { try bench.write("10.5\n20.\(minute)\n55\n30\n") }
        await until { bench.clock.pendingTimers == 1 }
        #expect(bench.reports.all.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.reports.all.compactMap(\.fix).map(\.coordinate.longitude) == [20.5, 20.4])
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a file, and the folder it is in, may come later")
    @ServiceActor
    func later() async throws {
        let bench = try Bench()
        let folder = bench.folder.appending(path: "a/b")
        let source = FilePlaceSource.fixed(folder.appending(path: "geolocation").path, clock: bench.clock)
        let reports = Reports(of: source)
        source.discover()
        #expect(source.availableLevel == .none)

        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.home.utf8).write(to: folder.appending(path: "geolocation"), options: .atomic)
        await until {
            // Its folders coming may have used up this second's reading.
            await bench.clock.advance(by: .seconds(1))
            return source.availableLevel == .exact
        }

        #expect(reports.all == [.availabilityChanged])
    }

    @Test("what is no regular file is not read", arguments: ["fifo", "folder", "large"])
    @ServiceActor
    func strange(kind: String) throws {
        let bench = try Bench()
        let path = bench.folder.appending(path: "geolocation").path
        switch kind {
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try Data(count: FixedPlace.sizeLimit + 1).write(to: URL(filePath: path))
        }

        let source = FilePlaceSource.fixed(path, clock: bench.clock)
        source.discover()

        #expect(source.availableLevel == .none)
    }
}
