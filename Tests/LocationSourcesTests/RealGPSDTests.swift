import EventLoop
import Foundation
import Geolocation
import Positioning
import Testing

@testable import LocationSources

/// Runs the source against the gpsd that the system has, fed with a recorded log through a pseudo terminal.
///
/// The program that does the feeding is not part of the project; without it, or without gpsd, the test is skipped.
@Suite(.timeLimit(.minutes(1))) struct RealGPSDTests {
    init() { EventLoop.startThread() }

    private static let shared = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared").standardized
    private static let replay = shared.appending(path: "standins/gpsd_replay.py")
    private static let log = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Recordings/harbour.nmea").standardized

    private static var canRun: Bool {
        [replay.path, "/usr/sbin/gpsd", "/usr/bin/env"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    @Test("a real gpsd names its device, gives fixes, and is found again after a restart", .enabled(if: canRun))
    @ServiceActor
    func life() async throws {
        let port = UInt16.random(in: 20000...29999)
        let feeder = Process()
        let (input, output) = (Pipe(), Pipe())
        feeder.executableURL = URL(filePath: "/usr/bin/env")
        feeder.arguments = [
            "python3", Self.replay.path, "--port", String(port), "--log", Self.log.path, "--rate", "200", "--loop",
            "--seconds", "50", "--gpsd-arg=-s", "--gpsd-arg=38400",
        ]
        feeder.standardInput = input
        feeder.standardOutput = output
        try feeder.run()
        // It stops gpsd, which takes seconds, and then itself; nobody here needs to see that.
        defer { try? input.fileHandleForWriting.write(contentsOf: Data("quit\n".utf8)) }
        var ready = Self.announcements(of: output, beginning: "READY").makeAsyncIterator()
        #expect(await ready.next() != nil)
        let source = GPSDSource(address: .tcp(host: "127.0.0.1", port: port), clock: LoopClock.shared)
        let reports = Reports(of: source)

        source.discover()
        #expect(try await reports.next() == .availabilityChanged)
        #expect(source.availableLevel == .exact)

        source.run(for: .exact)
        let first = try await reports.nextFix()
        #expect(first.source.hasPrefix("gpsd:/dev/pts/"))
        #expect(first.horizontalAccuracy ?? 0 >= 3)

        try input.fileHandleForWriting.write(contentsOf: Data("restart\n".utf8))
        #expect(await ready.next() != nil)
        let restarted = LoopClock.shared.now
        while true {
            if case .fix(let fix) = try await reports.next(), fix.measuredAt > restarted { break }
        }
        source.run(for: nil)
    }

    /// The lines that begin with `prefix`, as they come.
    private static func announcements(of pipe: Pipe, beginning prefix: String) -> AsyncStream<String> {
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        nonisolated(unsafe) var reader = LineReader(limit: 1000)
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                return sink.finish()
            }
            data.withUnsafeBytes { bytes in
                reader.read(bytes) { line in
                    let text = String(decoding: line, as: UTF8.self)
                    if text.hasPrefix(prefix) { sink.yield(text) }
                }
            }
        }
        return lines
    }
}
