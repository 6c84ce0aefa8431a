import Geolocation
import JSON

/// What could be received where, for those who want to help a lookup service to know it.
struct SurveyItem: Sendable {
    private let fix: Fix
    private let accessPoints: [AccessPoint]

    /// Radius in metres from which on a fix tells a service nothing.
    static let leastAccuracy = 200.0
    /// In metres a second.
    static let greatestSpeed = 50.0
    /// How far apart in time a fix and what was received may be.
    static let greatestDifference = Duration.seconds(20)
    /// In metres: how far one may have come in that time.
    static let greatestShift = 150.0

    /// Whether a fix is good enough: of a receiver of one's own, and not near 0, 0, where broken ones see themselves.
    static func isFit(_ fix: Fix) -> Bool {
        guard fix.kind == .gnss, !fix.isSimulated, !fix.isForeign, let accuracy = fix.horizontalAccuracy else {
            return false
        }
        return accuracy > 0 && accuracy <= leastAccuracy && (0...greatestSpeed).contains(fix.speed ?? 0)
            && (abs(fix.coordinate.latitude) >= 1 || abs(fix.coordinate.longitude) >= 1)
    }

    /// - Returns: `nil` if the fix is not fit, or nothing that may be told was received about when it was taken.
    init?(_ fix: Fix, _ received: [AccessPoint]) {
        let near = received.filter { point in
            let seconds = abs((point.seenAt - fix.measuredAt) / .seconds(1))
            return seconds <= Self.greatestDifference / .seconds(1) && seconds * (fix.speed ?? 0) <= Self.greatestShift
        }
        guard Self.isFit(fix), !near.isEmpty, let sendable = LookupQuery(accessPoints: near).sendable else {
            return nil
        }
        self.fix = fix
        accessPoints = sendable.accessPoints
    }

    /// As an item of `/v2/geosubmit`. All ages in it are counted back from its time.
    var json: JSONValue {
        let now = accessPoints.map(\.seenAt).reduce(fix.measuredAt, max)
        let age = now - fix.measuredAt
        var position: [String: JSONValue] = [
            "latitude": .number(fix.coordinate.latitude), "longitude": .number(fix.coordinate.longitude),
            "age": .integer(age.wholeMilliseconds), "source": "gps",
        ]
        position["accuracy"] = Self.number(fix.horizontalAccuracy)
        position["altitude"] = Self.number(fix.altitude)
        position["speed"] = Self.number(fix.speed)
        position["heading"] = Self.number(fix.heading)
        return [
            "timestamp": .integer(fix.timestamp.microseconds / 1000 + age.wholeMilliseconds),
            "position": .object(position), "wifiAccessPoints": .array(accessPoints.map { $0.json(at: now) }),
        ]
    }

    private static func number(_ value: Double?) -> JSONValue? {
        value.flatMap { $0.isFinite ? .number($0) : nil }
    }
}
