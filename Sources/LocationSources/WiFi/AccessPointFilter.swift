/// Which access points may be told to a lookup service, and are of use to one (Ichnaea's API, “Geolocate”;
/// BeaconDB's privacy notice on names that end in `_nomap` or hold `_optout`).
package struct AccessPointFilter: Sendable, Equatable {
    /// Since when an access point may not have been heard and still count.
    private let longestAge: Duration

    /// - Parameter isMoving: whether the machine moves, so that what it heard a while ago is elsewhere.
    package init(isMoving: Bool) { longestAge = .seconds(isMoving ? 20 : 60) }

    /// Those that may be sent, each once, strongest first.
    package func admissible(_ seen: [SeenAccessPoint], at now: Duration) -> [AccessPoint] {
        var latest: [UInt64: AccessPoint] = [:]
        for candidate in seen where admits(candidate, at: now) {
            let point = candidate.accessPoint
            // Two adapters may hear the same one.
            if let other = latest[point.address], other.seenAt >= point.seenAt { continue }
            latest[point.address] = point
        }
        return latest.values.sorted { ($1.signal ?? .min, $0.address) < ($0.signal ?? .min, $1.address) }
    }

    private func admits(_ candidate: SeenAccessPoint, at now: Duration) -> Bool {
        let point = candidate.accessPoint
        return Self.isShared(candidate.name) && point.isSendable
            && now - point.seenAt <= longestAge && point.seenAt <= now
            && point.signal.map { (-100...0).contains($0) } ?? true
    }

    /// Whether the owner has neither hidden the name nor asked in it to be left out, in whatever case.
    private static func isShared(_ name: [UInt8]) -> Bool {
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return name.contains { $0 != 0 } && !name.ends(with: Array("_nomap".utf8))
            && !name.holds(Array("_optout".utf8))
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }

    fileprivate func holds(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
