import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Geolocation
import Testing

/// A long drive at two hundred times its speed, round after round, with twenty applications. Takes `SOAK_SECONDS` of the
/// environment, and is left out without; `Tests/Soak/nmea` runs it against the release program.
@Suite(.timeLimit(.minutes(90)))
struct SoakTests {
    init() { EventLoop.startThread() }

    private static let log = DriveLog(
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../shared/data/nmea/dotmorten/NmeaSampleData.txt").standardized,
        secondsPerEpoch: 2)

    private static let length = ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap { Int($0) }

    /// From one epoch of two seconds to the next, two hundred times as fast.
    private static let step = Duration.milliseconds(10)

    @Test(
        "hours of driving lose no position and leave the daemon as large as it was after a minute",
        .enabled(if: length != nil && log != nil, "needs SOAK_SECONDS and a recorded drive"))
    @ServiceActor
    func drive() async throws {
        let log = try #require(Self.log)
        let length = Duration.seconds(try #require(Self.length))
        let daemon = try await RunningDaemon()
        let reader = try await GeoClueClient(on: daemon.bus)
        var others: [GeoClueClient] = []
        for _ in 0..<19 { others.append(try await GeoClueClient(on: daemon.bus)) }
        for client in [reader] + others { try await client.start() }
        await daemon.feed.connected()
        var comparison = Comparison()
        var counts = [Int](repeating: 0, count: others.count)
        var samples: [Sample] = []

        let start = LoopClock.shared.now
        var sent = 0
        while LoopClock.shared.now - start < length {
            let bytes = log.bytes(sent % log.count, round: sent / log.count)
            comparison.expect(bytes)
            await daemon.feed.send(bytes)
            sent += 1
            comparison.receive(try await reader.newCoordinates())
            for (index, client) in others.enumerated() {
                while client.updates.count > 0 {
                    _ = try await client.updates.next()
                    counts[index] += 1
                }
            }
            let elapsed = LoopClock.shared.now - start
            if elapsed >= .seconds(10) * (samples.count + 1) {
                samples.append(try Sample(of: daemon.program.processID, at: elapsed))
                if samples.count % 6 == 0 { print(samples[samples.count - 1], "positions: \(comparison.received)") }
            }
            let wait = Self.step * sent - (LoopClock.shared.now - start)
            if wait > .zero { await LoopClock.shared.pause(wait) }
        }
        comparison.finish()
        let deadline = LoopClock.shared.now + .seconds(5)
        while comparison.isWaiting, LoopClock.shared.now < deadline {
            comparison.receive(try await reader.newCoordinates())
        }
        for (index, client) in others.enumerated() {
            _ = try await client.connection.settle()
            counts[index] += client.updates.count
        }

        print("\(sent) epochs in \(length), \(comparison.received) positions")
        #expect(comparison.mismatches == 0 && !comparison.isWaiting)
        #expect(counts.allSatisfy { $0 == comparison.received })
        if samples.count > 12 {
            let early = Sample.medianSize(samples[6..<12])
            let late = Sample.medianSize(samples.suffix(6))
            print("anonymous memory after a minute \(early) kB, at the end \(late) kB")
            #expect(late - early <= 256)
        }
    }
}

/// Compares what the reader gets with what the parser makes of the bytes, as both come.
private struct Comparison {
    private(set) var received = 0
    private(set) var mismatches = 0

    private var expectation = Expectation()
    private var due: [Coordinate] = []
    private var lastExpected: Coordinate?
    private var lastReceived: Coordinate?

    var isWaiting: Bool { !due.isEmpty }

    mutating func expect(_ bytes: [UInt8]) {
        expectation.take(bytes)
        collect()
    }

    mutating func finish() {
        expectation.finish()
        collect()
    }

    private mutating func collect() {
        for coordinate in expectation.drain() where coordinate != lastExpected {
            due.append(coordinate)
            lastExpected = coordinate
        }
    }

    mutating func receive(_ coordinates: [Coordinate]) {
        received += coordinates.count
        for coordinate in coordinates where coordinate != lastReceived {
            lastReceived = coordinate
            if due.first == coordinate {
                due.removeFirst()
            } else {
                mismatches += 1
            }
        }
    }
}

/// How large the daemon is, and what it has cost so far.
private struct Sample: CustomStringConvertible {
    /// kB that are the process's own.
    let anonymous: Int
    let resident: Int
    let descriptors: Int
    /// Of one processor, since the start.
    let share: Double
    let elapsed: Duration

    init(of process: pid_t, at elapsed: Duration) throws {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        func kilobytes(_ name: String) -> Int {
            status.split(separator: "\n").first { $0.hasPrefix(name) }?
                .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        anonymous = kilobytes("RssAnon:")
        resident = kilobytes("VmRSS:")
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        // proc(5): after the command in brackets, user and system time are the 12th and 13th.
        let fields =
            try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            .split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.count > 12 ? (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0) : 0
        share = ticks / Double(sysconf(Int32(_SC_CLK_TCK))) / (elapsed / .seconds(1))
        self.elapsed = elapsed
    }

    var description: String {
        "\(elapsed.components.seconds) s: \(resident) kB resident, \(anonymous) kB of them its own, "
            + "\(descriptors) descriptors, \(String(format: "%.1f", share * 100)) % of a processor,"
    }

    static func medianSize(_ samples: ArraySlice<Sample>) -> Int {
        let sizes = samples.map(\.anonymous).sorted()
        return sizes[sizes.count / 2]
    }
}
