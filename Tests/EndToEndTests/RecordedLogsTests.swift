import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Geolocation
import NMEA
import Positioning
import Testing

/// Feeds recorded receivers' logs to the real daemon, a sentence at a time, and compares what an exact client gets with
/// what the parser and its rules of time and quality make of the same bytes.
///
/// The logs are not part of the project, and the receiver's silences count, so that this wants a machine with nothing
/// else to do: `make recordings`, which sends a sentence every 20 ms (`NMEA_PACE_MS`), or as soon as the one before has
/// been dealt with for 0.
@Suite(.timeLimit(.minutes(30)))
struct RecordedLogsTests {
    init() { EventLoop.startThread() }

    static let logs: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/data/nmea/gpsd").standardized
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "log" }.sorted { $0.path < $1.path }
    }()

    private static let milliseconds = ProcessInfo.processInfo.environment["NMEA_PACE_MS"].flatMap { Int($0) }
    private static let pace = milliseconds.flatMap { $0 > 0 ? Duration.milliseconds($0) : nil }

    @Test(
        "an exact client receives every position that the parser gives, in order, and none that it does not",
        .enabled(if: !logs.isEmpty && milliseconds != nil, "needs recorded logs, and NMEA_PACE_MS"))
    func everyPosition() async throws {
        // At its own pace a log leaves the machine idle most of the time.
        let width = Self.pace == nil ? 4 : 16
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            var counts: [Int] = []
            for (index, log) in Self.logs.enumerated() {
                if index >= width, let count = try await group.next() { counts.append(count) }
                group.addTask { try await Self.replay(log) }
            }
            for try await count in group { counts.append(count) }
            return counts
        }

        print("\(counts.count) logs, \(counts.reduce(0, +)) positions")
        #expect(counts.count == Self.logs.count)
        #expect(counts.reduce(0, +) > 1000)
    }

    /// - Returns: how many positions there were.
    @ServiceActor
    private static func replay(_ log: URL) async throws -> Int {
        let lines = [UInt8](try Data(contentsOf: log)).split(separator: UInt8(ascii: "\n")).map {
            $0 + [UInt8(ascii: "\n")]
        }
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        await daemon.feed.connected()
        var expectation = Expectation()
        var received: [Coordinate] = []

        for line in lines {
            expectation.take(Array(line))
            await daemon.feed.send(Array(line))
            if let pace { await LoopClock.shared.pause(pace) }
            received += try await client.newCoordinates()
        }
        expectation.finish()
        // What the last sentences come to is told when the receiver has been silent for a while.
        let deadline = LoopClock.shared.now + .seconds(5)
        while received.count < expectation.coordinates.count, LoopClock.shared.now < deadline {
            received += try await client.newCoordinates()
        }

        // A position that comes twice in one reading is one position.
        #expect(distinct(received) == distinct(expectation.coordinates), "\(log.lastPathComponent)")
        await daemon.program.stop()
        await daemon.bus.stop()
        return received.count
    }

    /// Without those that equal the one before them.
    private static func distinct(_ coordinates: [Coordinate]) -> [Coordinate] {
        coordinates.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

}

extension LoopClock {
    /// Comes back once `duration` has passed.
    func pause(_ duration: Duration) async {
        var timer: AnyObject?
        await withCheckedContinuation { continuation in
            timer = after(duration) { continuation.resume() }
        }
        withExtendedLifetime(timer) {}
    }
}

/// What the parser makes of the same bytes, judged by the rules that every fix has to pass.
struct Expectation {
    private(set) var coordinates: [Coordinate] = []

    /// Takes out what there is so far.
    mutating func drain() -> [Coordinate] {
        defer { coordinates = [] }
        return coordinates
    }

    private var decoder = NMEADecoder()
    private var arbiter = Arbiter()

    mutating func take(_ line: [UInt8]) {
        for solution in line.withUnsafeBytes({ decoder.decode($0) }) { judge(solution) }
    }

    mutating func finish() {
        if let last = decoder.silenceFell() { judge(last) }
    }

    private mutating func judge(_ solution: NMEASolution) {
        guard case .fix(let found) = solution else { return }
        let now = LoopTime.now
        let fix = Fix(
            coordinate: found.coordinate, horizontalAccuracy: found.horizontalAccuracy, altitude: found.altitude,
            speed: found.speed, heading: found.heading,
            timestamp: ReceiverClock.timestamp(time: found.time, day: found.day, wallTime: now.wall),
            measuredAt: now.monotonic, kind: .gnss, source: "nmea-socket")
        let verdict = arbiter.consider(
            fix, at: now.monotonic, wallTime: Timestamp(microseconds: now.wall))
        if verdict == .accept { coordinates.append(found.coordinate) }
    }

    private enum LoopTime {
        static var now: (monotonic: Duration, wall: Int64) {
            var (boot, real) = (timespec(), timespec())
            clock_gettime(CLOCK_BOOTTIME, &boot)
            clock_gettime(CLOCK_REALTIME, &real)
            return (
                .seconds(boot.tv_sec) + .nanoseconds(boot.tv_nsec),
                Int64(real.tv_sec) * 1_000_000 + Int64(real.tv_nsec) / 1000
            )
        }
    }
}

extension GeoClueClient {
    /// The positions of all updates that the daemon has sent so far and nobody has looked at.
    func newCoordinates() async throws -> [Coordinate] {
        // What it has sent before the answer has come before it.
        try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, "org.freedesktop.DBus.Peer", "Ping")
        var coordinates: [Coordinate] = []
        while updates.count > 0 {
            let location = try await nextLocation()
            let (latitude, longitude) = (location.number("Latitude"), location.number("Longitude"))
            coordinates.append(
                try #require(Coordinate(latitude: latitude ?? .nan, longitude: longitude ?? .nan)))
        }
        return coordinates
    }
}
