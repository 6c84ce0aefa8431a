import Foundation
import Geolocation
import JSON
import NMEA
import NMEATestSupport
import Testing

@testable import LocationSources

/// Compares what we make of recorded NMEA logs with what gpsd made of them, epoch by epoch.
///
/// The logs are not part of the project; see Tests/Recordings/RecordedLogs.md for what is compared and why the rest differs.
@Suite struct RecordedLogTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/data/nmea").standardized

    private static var logs: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "gpsd").path)) ?? []
        return files.filter { $0.hasSuffix(".log") }.sorted()
    }

    /// One position, as either side sees it.
    fileprivate struct Epoch {
        var coordinate: Coordinate
        var altitude: Double?
        var speed: Double?
        var heading: Double?
    }

    /// How many epochs agree in each quantity, of those in which both sides have it.
    fileprivate struct Agreement {
        var position = (same: 0, of: 0)
        var altitude = (same: 0, of: 0)
        var speed = (same: 0, of: 0)
        var track = (same: 0, of: 0)
        /// Epochs that gpsd has too, but without a time, as it knew no date yet.
        var undated = 0
        var onlyOurs = 0
        var onlyTheirs = 0

        mutating func compare(_ ours: Epoch, _ theirs: Epoch, tolerance: Double) {
            Self.count(&position, ours.coordinate.isSame(as: theirs.coordinate, tolerance))
            if let a = ours.altitude, let b = theirs.altitude { Self.count(&altitude, abs(a - b) <= 0.1) }
            if let a = ours.speed, let b = theirs.speed { Self.count(&speed, abs(a - b) <= 0.01) }
            if let a = ours.heading, let b = theirs.heading {
                Self.count(&track, abs((a - b).remainder(dividingBy: 360)) <= 0.1)
            }
        }

        private static func count(_ counter: inout (same: Int, of: Int), _ isSame: Bool) {
            counter.of += 1
            if isSame { counter.same += 1 }
        }
    }

    @Test("gpsd and we find the same positions in recorded logs", .enabled(if: !logs.isEmpty, "needs recorded logs"))
    func agreement() throws {
        var total = Agreement()
        for log in Self.logs {
            let tolerance = log == "bundg_zeus_9.log" ? 5e-5 : 1e-6
            let found = try Self.compare(log, tolerance: tolerance)
            total.add(found)
            if found.position.same < found.position.of || found.onlyOurs + found.onlyTheirs > 0 {
                print(log, found.summary)
            }
        }
        print("\(Self.logs.count) logs:", total.summary)

        #expect(total.position.of > 1000)
        #expect(Double(total.position.same) >= 0.99 * Double(total.position.of))
        #expect(Double(total.onlyOurs + total.onlyTheirs) <= 0.03 * Double(total.position.of))
    }

    @Test("a long drive is decoded to the end", .enabled(if: !logs.isEmpty, "needs recorded logs"))
    func longDrive() throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "dotmorten/NmeaSampleData.txt"))

        let fixes = Self.decode([UInt8](bytes))

        #expect(fixes.count > 4000)
        #expect(fixes.allSatisfy { $0.horizontalAccuracy >= 3 })
    }

    private static func compare(_ log: String, tolerance: Double) throws -> Agreement {
        let bytes = try Data(contentsOf: folder.appending(path: "gpsd/\(log)"))
        let name = log.dropLast(".log".count)
        let expected = try String(contentsOf: folder.appending(path: "gpsd/\(name).tpv.jsonl"), encoding: .utf8)

        var agreement = Agreement()
        let ours = byTime(decode([UInt8](bytes)))
        let (theirs, undated) = try byTime(expected)
        for (time, epoch) in theirs {
            if let found = ours[time] {
                agreement.compare(found, epoch, tolerance: tolerance)
            } else {
                agreement.onlyTheirs += 1
            }
        }
        for (time, epoch) in ours where theirs[time] == nil {
            if undated.contains(where: { epoch.coordinate.isSame(as: $0, tolerance) }) {
                agreement.undated += 1
            } else {
                agreement.onlyOurs += 1
            }
        }
        return agreement
    }

    private static func decode(_ bytes: [UInt8]) -> [NMEAFix] {
        var decoder = NMEADecoder()
        var solutions: [NMEASolution] = []
        // One line at a time, as a slow serial line hands them over.
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            (line + [UInt8(ascii: "\n")]).withUnsafeBytes { solutions += decoder.decode($0) }
        }
        return (solutions + [decoder.silenceFell()].compactMap { $0 }).compactMap(\.fix)
    }

    /// The last fix of each time of day, in milliseconds. Those without a time cannot be matched.
    private static func byTime(_ fixes: [NMEAFix]) -> [Int64: Epoch] {
        var epochs: [Int64: Epoch] = [:]
        for fix in fixes {
            guard let time = fix.time else { continue }
            epochs[time.microseconds / 1000] = Epoch(
                coordinate: fix.coordinate, altitude: fix.altitude, speed: fix.speed, heading: fix.heading)
        }
        return epochs
    }

    /// The same of gpsd's reports, and the positions of those without a time.
    private static func byTime(_ expected: String) throws -> ([Int64: Epoch], undated: [Coordinate]) {
        var epochs: [Int64: Epoch] = [:]
        var undated: [Coordinate] = []
        for line in expected.split(separator: "\n") {
            let report = GPSDPosition(try JSONValue(parsing: String(line)))
            guard report.mode >= 2, let coordinate = report.coordinate else { continue }
            guard let time = report.time else {
                undated.append(coordinate)
                continue
            }
            epochs[time.microseconds / 1000 % 86_400_000] = Epoch(
                coordinate: coordinate, altitude: report.altitude, speed: report.speed, heading: report.track)
        }
        return (epochs, undated)
    }
}

extension RecordedLogTests.Agreement {
    fileprivate mutating func add(_ other: Self) {
        position = (position.same + other.position.same, position.of + other.position.of)
        altitude = (altitude.same + other.altitude.same, altitude.of + other.altitude.of)
        speed = (speed.same + other.speed.same, speed.of + other.speed.of)
        track = (track.same + other.track.same, track.of + other.track.of)
        undated += other.undated
        onlyOurs += other.onlyOurs
        onlyTheirs += other.onlyTheirs
    }

    fileprivate var summary: String {
        "position \(position.same)/\(position.of), altitude \(altitude.same)/\(altitude.of), "
            + "speed \(speed.same)/\(speed.of), track \(track.same)/\(track.of), "
            + "undated \(undated), only ours \(onlyOurs), only gpsd's \(onlyTheirs)"
    }
}

extension Coordinate {
    fileprivate func isSame(as other: Coordinate, _ tolerance: Double) -> Bool {
        max(abs(latitude - other.latitude), abs(longitude - other.longitude)) <= tolerance
    }
}
