import Foundation
import Geolocation
import Positioning
import Testing

/// The project's shared cases, where they are checked out beside the package.
@Suite("Shared arbitration cases")
struct SharedArbitrationCaseTests {
    @Test(
        "each shared case ends at the right source",
        .enabled(if: SharedCases.exist, "needs ../shared/data/arbitration/cases.json"),
        arguments: SharedCases.all)
    func sharedCase(_ course: ArbitrationCase) throws {
        try course.run()
    }

    @Test(
        "all shared cases were read",
        .enabled(if: SharedCases.exist, "needs ../shared/data/arbitration/cases.json"))
    func count() {
        #expect(SharedCases.all.count >= 25)
    }
}

private enum SharedCases {
    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/data/arbitration/cases.json")

    static var exist: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static let all: [ArbitrationCase] = {
        guard exist else { return [] }
        do {
            return try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).cases.map { try $0.course() }
        } catch {
            preconditionFailure("the shared cases cannot be read: \(error)")
        }
    }()

    struct File: Decodable { let cases: [Case] }

    struct Case: Decodable {
        let name: String
        let steps: [Step]

        func course() throws -> ArbitrationCase { ArbitrationCase(name, try steps.map { try $0.step() }) }
    }

    struct Step: Decodable {
        let t, now, tick, lat, lon, acc, speed: Double?
        let src, lost, expect, selected: String?
        let selected_lat, selected_lon: Double?

        func step() throws -> ArbitrationCase.Step {
            let picked = try selected.map(Self.kind)
            let place = selected_lat.flatMap { latitude in
                selected_lon.map { Place(latitude: latitude, longitude: $0) }
            }
            if let tick {
                return ArbitrationCase.Step(event: .tick(tick), verdicts: [nil], picked: picked, place: place)
            }
            if let lost, let now {
                let source = try Self.kind(lost).rawValue
                return ArbitrationCase.Step(
                    event: .lost(source: source, now: now), verdicts: [nil], picked: picked, place: place)
            }
            let kind = try Self.kind(try #require(src))
            let time = try #require(t)
            let coordinate = lat.flatMap { latitude in
                lon.flatMap { Coordinate(latitude: latitude, longitude: $0) }
            }
            let fix = coordinate.map {
                Fix(
                    coordinate: $0, horizontalAccuracy: acc, speed: speed, timestamp: .start + time,
                    measuredAt: .seconds(time), kind: kind, source: kind.rawValue)
            }
            return ArbitrationCase.Step(
                event: .fix(fix, now: now ?? time), verdicts: try verdicts(on: kind), picked: picked, place: place)
        }

        /// The shared file names the source that is picked, or why a fix is refused; a verdict says whether the fix is
        /// the position, and if not, why.
        private func verdicts(on kind: Fix.Kind) throws -> [Verdict?] {
            switch try #require(expect) {
            case "rejected: coordinates": [nil]
            case "rejected: no accuracy": [.ignore(.noAccuracy)]
            case "rejected: accuracy": [.ignore(.invalidAccuracy)]
            case "rejected: stale": [.ignore(.stale)]
            case "rejected: older than the last of this source": [.ignore(.older)]
            case "held: jump": [.hold(.jump)]
            case let source where try Self.kind(source) == kind: [.accept]
            default: [.ignore(.receiverHeld), .ignore(.notBetter)]
            }
        }

        static func kind(_ name: String) throws -> Fix.Kind {
            name == "static" ? .fixed : try #require(Fix.Kind(rawValue: name))
        }
    }
}
