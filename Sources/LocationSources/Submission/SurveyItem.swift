import Geolocation
import JSON

/// What could be received where, for those who want to help a lookup service to know it.
struct SurveyItem: Sendable {
    private let fix: Fix
    private let accessPoints: [AccessPoint]
    private let cells: [CellTower]
    /// When the cells were seen, as time since boot.
    private let seenAt: Duration

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

    /// - Parameter seenAt: when the cells were seen, as time since boot.
    /// - Returns: `nil` if the fix is not fit, or nothing was received about when it was taken.
    init?(_ fix: Fix, _ query: LookupQuery, seenAt: Duration) {
        let isNear = { (moment: Duration) in
            let seconds = abs((moment - fix.measuredAt) / .seconds(1))
            return seconds <= Self.greatestDifference / .seconds(1) && seconds * (fix.speed ?? 0) <= Self.greatestShift
        }
        let near = LookupQuery(
            accessPoints: query.accessPoints.filter { isNear($0.seenAt) }, cells: isNear(seenAt) ? query.cells : [])
        guard Self.isFit(fix), !near.isByAddress, let sendable = near.sendable else { return nil }
        self.fix = fix
        accessPoints = sendable.accessPoints
        cells = sendable.cells
        self.seenAt = seenAt
    }

    /// As an item of `/v2/geosubmit`. All ages in it are counted back from its time.
    var json: JSONValue {
        let moment = accessPoints.map(\.seenAt).reduce(cells.isEmpty ? fix.measuredAt : seenAt, max)
        let now = max(moment, fix.measuredAt)
        let age = now - fix.measuredAt
        var position: [String: JSONValue] = [
            "latitude": .number(fix.coordinate.latitude), "longitude": .number(fix.coordinate.longitude),
            "age": .integer(age.wholeMilliseconds), "source": "gps",
        ]
        position["accuracy"] = Self.number(fix.horizontalAccuracy)
        position["altitude"] = Self.number(fix.altitude)
        position["speed"] = Self.number(fix.speed)
        position["heading"] = Self.number(fix.heading)
        var members: [String: JSONValue] = [
            "timestamp": .integer(fix.timestamp.microseconds / 1000 + age.wholeMilliseconds),
            "position": .object(position),
        ]
        if !accessPoints.isEmpty { members["wifiAccessPoints"] = .array(accessPoints.map { $0.json(at: now) }) }
        if !cells.isEmpty { members["cellTowers"] = .array(cells.map(\.json)) }
        return .object(members)
    }

    private static func number(_ value: Double?) -> JSONValue? {
        value.flatMap { $0.isFinite ? .number($0) : nil }
    }
}
