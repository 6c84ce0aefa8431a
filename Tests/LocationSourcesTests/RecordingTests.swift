import Foundation
import Geolocation
import JSON
import NMEA
import NMEATestSupport
import Testing

@testable import LocationSources

/// Decodes the recordings of Tests/Recordings and compares with the fixes beside them.
@Suite struct RecordingTests {
    private struct Expected {
        let json: JSONValue

        func agrees(with fix: Fix) -> Bool {
            Self.isSame(json["latitude"], fix.coordinate.latitude, 1e-9)
                && Self.isSame(json["longitude"], fix.coordinate.longitude, 1e-9)
                && Self.isSame(json["accuracy"], fix.horizontalAccuracy, 1e-6)
                && Self.isSame(json["altitude"], fix.altitude, 1e-6) && Self.isSame(json["speed"], fix.speed, 1e-3)
                && Self.isSame(json["heading"], fix.heading, 1e-6)
                && json["time"].flatMap { Timestamp(gpsd: $0) } == fix.timestamp
        }

        private static func isSame(_ expected: JSONValue?, _ found: Double?, _ tolerance: Double) -> Bool {
            guard let expected = expected?.double, let found else { return expected == nil && found == nil }
            return abs(expected - found) <= tolerance
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Recordings")

    private static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    private static func expected(_ name: String) throws -> [Expected] {
        let lines = String(decoding: try bytes("\(name).fixes.jsonl"), as: UTF8.self).split(separator: "\n")
        return try lines.map { Expected(json: try JSONValue(parsing: String($0))) }
    }

    private static func check(_ fixes: [Fix], against name: String) throws {
        let expected = try expected(name)
        #expect(fixes.count == expected.count)
        for (index, (fix, expected)) in zip(fixes, expected).enumerated() {
            #expect(expected.agrees(with: fix), "fix \(index): \(fix) at \(fix.coordinate.latitude)")
        }
    }

    @Test(
        "a receiver's recording gives its fixes, however the bytes are cut",
        arguments: ["harbour", "old-unit", "survey"], [1, 7, 64, 512, 1 << 20])
    func nmea(name: String, piece: Int) throws {
        let bytes = try Self.bytes("\(name).nmea")
        var decoder = NMEADecoder()
        var solutions: [NMEASolution] = []

        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { solutions += decoder.decode($0) }
        }
        if let last = decoder.silenceFell() { solutions.append(last) }

        let fixes = solutions.compactMap(\.fix).map { found in
            Fix(
                coordinate: found.coordinate, horizontalAccuracy: found.horizontalAccuracy, altitude: found.altitude,
                speed: found.speed, heading: found.heading,
                timestamp: ReceiverClock.timestamp(time: found.time, day: found.day, wallTime: 0), measuredAt: .zero,
                kind: .gnss, source: "recording")
        }
        try Self.check(fixes, against: name)
    }

    @Test("a recording of gpsd gives the fixes that it reports, each once")
    func gpsd() throws {
        let bytes = try Self.bytes("harbour-gpsd.json")
        var lines = LineReader(limit: GPSDMessage.longestLine)
        var receivers = GPSDReceivers(name: "gpsd")
        var fixes: [Fix] = []

        bytes.withUnsafeBytes { bytes in
            lines.read(bytes) { line in
                guard let message = GPSDMessage(line) else { return }
                for case .fix(let fix) in receivers.take(message, at: .zero, wallTime: 0) { fixes.append(fix) }
            }
        }

        #expect(receivers.devices == ["/dev/pts/0"])
        try Self.check(fixes, against: "harbour-gpsd")
    }
}
