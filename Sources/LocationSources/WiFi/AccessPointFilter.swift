/// Which access points may be told to a lookup service, and are of use to one (Ichnaea's API, “Geolocate”;
/// BeaconDB's privacy notice on names that end in `_nomap` or hold `_optout`).
package struct AccessPointFilter: Sendable, Equatable {
    /// Fewer are never sent: one alone would tell where a single device is.
    package static let fewest = 2
    /// More add nothing to an answer.
    package static let most = 20

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

    /// What is asked about: the strongest of `admissible`, or nothing if these are too few.
    package static func query(_ admissible: [AccessPoint]) -> [AccessPoint] {
        admissible.count < fewest ? [] : Array(admissible.prefix(most))
    }

    private func admits(_ candidate: SeenAccessPoint, at now: Duration) -> Bool {
        let point = candidate.accessPoint
        return Self.isShared(candidate.name) && Self.isStationary(point.address)
            && now - point.seenAt <= longestAge && point.seenAt <= now
            && point.signal.map { (-100...0).contains($0) } ?? true
    }

    /// Whether the owner has neither hidden the name nor asked in it to be left out, in whatever case.
    private static func isShared(_ name: [UInt8]) -> Bool {
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return name.contains { $0 != 0 } && !name.ends(with: Array("_nomap".utf8))
            && !name.holds(Array("_optout".utf8))
    }

    /// Whether an address may be that of an access point which stays where it is: a maker's, of one device.
    private static func isStationary(_ address: UInt64) -> Bool {
        // The first byte's lowest bits (IEEE 802, 8.2): group addresses, and such as a device has given itself, which
        // is what phones do. All ones is a group address.
        address & 0x0300_0000_0000 == 0 && address != 0 && address < 1 << 48
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }

    fileprivate func holds(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
