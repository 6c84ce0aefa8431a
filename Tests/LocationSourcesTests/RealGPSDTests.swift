import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// The source against a real gpsd: what is promised about losing and finding receivers.
@Suite(
    .serialized, .timeLimit(.minutes(1)), .enabled(if: GPSDReplay.isPossible, "needs gpsd and the shared stand-ins"))
struct RealGPSDTests {
    init() { EventLoop.startThread() }

    /// What GPSDReplay's receivers stand at.
    private static let west = Coordinate(latitude: 10.5, longitude: 20)
    private static let east = Coordinate(latitude: 10.5, longitude: 20 + 6.0 / 60)

    private static func isAt(_ fix: Fix?, _ place: Coordinate?) -> Bool {
        guard let fix, let place else { return false }
        return fix.coordinate.distance(to: place) < 0.2
    }

    /// A gpsd, a source that watches it, and what the source has reported.
    @ServiceActor
    private final class Bench {
        let gpsd: GPSDReplay
        let source: GPSDSource
        let reports: Reports
        let clock = ManualClock()

        init(_ logs: [String]) async throws {
            gpsd = try await GPSDReplay(logs: logs)
            source = GPSDSource(address: gpsd.address, clock: clock)
            reports = Reports(of: source)
            source.discover()
            await until { self.source.availableLevel == .exact }
        }

        func fixes(of device: Int = 0) -> [Fix] {
            reports.all.compactMap(\.fix).filter { $0.source == "gpsd:\(gpsd.devices[device])" }
        }

        func isLost(_ device: Int = 0) -> Bool { reports.all.contains(.lost(source: "gpsd:\(gpsd.devices[device])")) }

        /// Comes back with a fix that comes after this call.
        func freshFix(of device: Int = 0) async -> Fix? {
            let before = fixes(of: device).count
            await until { self.fixes(of: device).count > before }
            return fixes(of: device).last
        }

        /// Lets seconds pass until the device, which says nothing more, counts as lost.
        ///
        /// - Returns: how long after its last fix that was.
        func passTimeUntilLost(_ device: Int = 0) async throws -> Duration {
            var rounds = 0
            var count = -1
            // The feeder may take a moment to stop; it sends a hundred fixes a second.
            while rounds < 20 {
                try await gpsd.flush()
                await clock.settle()
                rounds = fixes(of: device).count == count ? rounds + 1 : 0
                count = fixes(of: device).count
            }
            await until {
                await self.clock.advance(by: .seconds(1))
                return self.isLost(device)
            }
            return clock.now - (fixes(of: device).last?.measuredAt ?? .zero)
        }
    }

    private static let standing = GPSDReplay.standing(minutes: "00.0000", hdop: "1.0")

    @Test("a device is named before anybody watches, and gives its place once somebody does")
    @ServiceActor
    func place() async throws {
        let bench = try await Bench([Self.standing])

        bench.source.run(for: .exact)
        // Whoever comes in the middle of an epoch may first hear of a place alone.
        await until { bench.fixes().last?.horizontalAccuracy == 19 }

        let fix = bench.fixes().last
        #expect(Self.isAt(fix, Self.west))
        #expect(fix?.altitude == 55.5)
        #expect(fix?.measuredAt == bench.clock.now)
    }

    @Test("after a restart of gpsd there are fixes again within five seconds, and no loss in between")
    @ServiceActor
    func restart() async throws {
        let bench = try await Bench([Self.standing])
        bench.source.run(for: .exact)
        _ = await bench.freshFix()

        try await bench.gpsd.tell("stop")
        await until { bench.clock.hasTimer(in: .zero) }
        await bench.clock.advance(by: .zero)
        await until { bench.clock.hasTimer(in: .seconds(1)) }
        let before = bench.fixes().count
        try await bench.gpsd.tell("start", answer: "READY")
        await bench.clock.advance(by: .seconds(1))
        await until { bench.fixes().count > before }

        #expect(Self.isAt(bench.fixes().last, Self.west))
        #expect(!bench.isLost())
    }

    @Test("a device that is pulled without a word is lost thirty seconds after its last fix")
    @ServiceActor
    func unplug() async throws {
        let bench = try await Bench([Self.standing])
        bench.source.run(for: .exact)
        _ = await bench.freshFix()

        try await bench.gpsd.tell("unplug 0", answer: "UNPLUGGED")
        let wait = try await bench.passTimeUntilLost()

        #expect(wait >= .seconds(30) && wait <= .seconds(31))
    }

    @Test("a device that gpsd is told to let go is lost at once, and back when it is added")
    @ServiceActor
    func removeAndAdd() async throws {
        let bench = try await Bench([Self.standing])
        bench.source.run(for: .exact)
        _ = await bench.freshFix()

        try await bench.gpsd.tell("remove 0", answer: "REMOVE OK")
        await until { bench.isLost() }
        #expect(bench.source.availableLevel == .none)
        try await bench.gpsd.tell("add 0", answer: "ADD OK")
        await until { bench.source.availableLevel == .exact }

        #expect(Self.isAt(await bench.freshFix(), Self.west))
        #expect(bench.clock.now == .seconds(1000))
    }

    @Test("a device that falls silent is lost, and counts again with its first fix")
    @ServiceActor
    func silence() async throws {
        let bench = try await Bench([Self.standing])
        bench.source.run(for: .exact)
        _ = await bench.freshFix()

        try await bench.gpsd.tell("pause")
        let wait = try await bench.passTimeUntilLost()
        try await bench.gpsd.tell("resume")

        #expect(wait >= .seconds(30) && wait <= .seconds(31))
        #expect(Self.isAt(await bench.freshFix(), Self.west))
    }

    @Test("of two devices the better one is followed, and the other one when that is pulled")
    @ServiceActor
    func twoDevices() async throws {
        let bench = try await Bench([
            GPSDReplay.standing(minutes: "00.0000", hdop: "5.0"), GPSDReplay.standing(minutes: "06.0000", hdop: "0.8"),
        ])
        let positioner = Positioner(sources: [bench.source], clock: bench.clock)
        let toPositioner = bench.source.report
        let reports = Reports(of: bench.source)
        let toReports = bench.source.report
        bench.source.report = { report in
            toReports?(report)
            toPositioner?(report)
        }
        positioner.demand = .exact
        let (west, east) = ("gpsd:\(bench.gpsd.devices[0])", "gpsd:\(bench.gpsd.devices[1])")

        await until { positioner.position.fine?.source == east }
        #expect(Self.isAt(positioner.position.fine, Self.east))
        let pulled = bench.clock.now
        try await bench.gpsd.tell("unplug 1", answer: "UNPLUGGED")
        try await bench.gpsd.flush()
        // The other one goes on, a fix a second.
        while positioner.position.fine?.source != west, bench.clock.now - pulled < .seconds(60) {
            if case .fix(let fix) = try await reports.next(), fix.source == west {
                await bench.clock.advance(by: .seconds(1))
            }
        }

        #expect(Self.isAt(positioner.position.fine, Self.west))
        #expect(bench.clock.now - pulled <= .seconds(31))
    }

    @Test("a receiver that needs long for its first fix is waited for, however long that is")
    @ServiceActor
    func slowStart() async throws {
        let bench = try await Bench([GPSDReplay.standing(minutes: "00.0000", hdop: "1.0", hasFix: false)])

        bench.source.run(for: .exact)
        for _ in 0..<8 {
            try await bench.gpsd.flush()
            await bench.clock.advance(by: .seconds(50))
        }
        #expect(bench.fixes().isEmpty && !bench.isLost())
        try await bench.gpsd.tell("pause")
        // Its "send" looks at one line of what it has been sent at a time, so one more pushes on the one before.
        var second = 5000
        while bench.fixes().isEmpty && !Task.isCancelled {
            second += 1
            let found = GPSDReplay.standing(minutes: "00.0000", hdop: "1.0", seconds: second..<second + 1)
            for sentence in found.split(whereSeparator: \.isNewline) {
                try await bench.gpsd.tell("send 0 \(sentence)")
                try await bench.gpsd.flush()
            }
        }

        #expect(Self.isAt(bench.fixes().last, Self.west))
        #expect(bench.source.availableLevel == .exact)
    }
}
