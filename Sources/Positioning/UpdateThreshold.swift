import Geolocation

/// Decides which of a client's positions are worth an update: GeoClue's `DistanceThreshold` and `TimeThreshold`.
///
/// Both must be passed, and both count from the position delivered last, so that many small steps add up. The limits
/// may be changed at any time and hold for the next position.
package struct UpdateThreshold: Sendable, Hashable {
    /// Metres along the great circle that the position has to have moved at least; 0 for any.
    package var distance: Double
    /// Whole seconds that have to lie between the two positions' own times at least; 0 for any.
    package var time: UInt32

    private var last: Delivered?

    private struct Delivered: Sendable, Hashable {
        let coordinate: Coordinate
        let timestamp: Timestamp
    }

    package init(distance: Double = 0, time: UInt32 = 0) {
        self.distance = distance
        self.time = time
    }

    /// Whether a position passes. The first one always does.
    package func passes(_ coordinate: Coordinate, at timestamp: Timestamp) -> Bool {
        guard let last else { return true }
        if time > 0, abs(timestamp.seconds - last.timestamp.seconds) < Int64(time) { return false }
        if distance > 0, last.coordinate.distance(to: coordinate) < distance { return false }
        return true
    }

    /// Makes a position the one that later ones are measured from.
    package mutating func deliver(_ coordinate: Coordinate, at timestamp: Timestamp) {
        last = Delivered(coordinate: coordinate, timestamp: timestamp)
    }

    /// Lets the next position pass as if it were the first.
    package mutating func reset() { last = nil }
}
