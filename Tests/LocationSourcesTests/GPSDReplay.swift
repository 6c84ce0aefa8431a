import EventLoop
import Foundation
import NMEATestSupport
import Testing

@testable import LocationSources

/// The gpsd that the system has, fed with logs through pseudo terminals, one device for each log.
///
/// The program that does the feeding is not part of the project; without it, or without gpsd, there is none.
@ServiceActor
final class GPSDReplay {
    private nonisolated static let program = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/standins/gpsd_replay.py").standardized

    nonisolated static var isPossible: Bool {
        [program.path, "/usr/sbin/gpsd", "/usr/bin/env"].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    let address: StreamAddress
    /// The paths of the devices, in the order of the logs.
    private(set) var devices: [String] = []

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
    private let lines: AsyncStream<String>

    /// Starts gpsd, and comes back when it accepts connections.
    init(logs: [String]) async throws {
        let port = UInt16.random(in: 20000...29999)
        address = .tcp(host: "127.0.0.1", port: port)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var arguments = [
            "python3", Self.program.path, "--port", String(port), "--rate", "200", "--control",
            folder.appending(path: "control").path, "--seconds", "55", "--gpsd-arg=-s", "--gpsd-arg=38400",
        ]
        for (index, log) in logs.enumerated() {
            let file = folder.appending(path: "\(index).nmea")
            try Data(log.utf8).write(to: file)
            arguments += ["--log", file.path]
        }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        lines = Self.lines(of: output)
        try process.run()
        let ready = try await line("READY")
        devices = ready.split(separator: "devices=").last.map { $0.split(separator: ",").map { String($0) } } ?? []
    }

    isolated deinit {
        // It stops gpsd, which takes a second, and then itself; nobody here needs to see that.
        try? input.fileHandleForWriting.write(contentsOf: Data("quit\n".utf8))
        try? FileManager.default.removeItem(at: folder)
    }

    /// Gives a command, and waits for the line that answers it.
    func tell(_ command: String, answer: String? = nil) async throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        if let answer { _ = try await line(answer) }
    }

    /// Comes back when gpsd has passed on all that the devices have sent so far.
    func flush() async throws {
        // It greets a newcomer between two rounds over its devices; after the second, one round is complete.
        for _ in 0..<2 {
            let (greetings, sink) = AsyncStream.makeStream(of: Bool.self)
            let connection = StreamConnection(to: address, clock: LoopClock.shared) { event in
                switch event {
                case .connected: break
                case .received: sink.yield(true)
                case .ended: sink.finish()
                }
            }
            for await _ in greetings { break }
            connection.close()
        }
    }

    private func line(_ beginning: String) async throws -> String {
        for await line in lines where line.hasPrefix(beginning) { return line }
        throw CancellationError()
    }

    private nonisolated static func lines(of pipe: Pipe) -> AsyncStream<String> {
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        nonisolated(unsafe) var reader = LineReader(limit: 1000)
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else {
                handle.readabilityHandler = nil
                return sink.finish()
            }
            data.withUnsafeBytes { reader.read($0) { sink.yield(String(decoding: $0, as: UTF8.self)) } }
        }
        return lines
    }

    /// What a receiver says that stands still at 10° 30′ N and 20° E and some minutes, second by second.
    ///
    /// - Parameters:
    ///   - seconds: of the day.
    ///   - hasFix: whether it knows where it is.
    nonisolated static func standing(
        minutes: String, hdop: String, seconds: Range<Int> = 0..<4000, hasFix: Bool = true
    ) -> String {
        seconds.map { second in
            let digits = String(1_000_000 + second / 3600 * 10000 + second / 60 % 60 * 100 + second % 60).dropFirst()
            // gpsd makes a fix of a place in the first GGA that it sees, whatever its quality.
            guard hasFix else {
                return nmea("GPRMC,\(digits),V,,,,,,,010626,,,N") + nmea("GPGGA,\(digits),,,,,0,00,,,M,,M,,")
            }
            return rmc(String(digits), minutes: minutes) + gga(String(digits), minutes: minutes, hdop: hdop)
        }.joined()
    }
}
