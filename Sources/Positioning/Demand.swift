import Geolocation

/// What all clients together want of the sources, as one value.
package struct Demand: Sendable, Hashable {
    /// The finest level that any client needs.
    package var level: AccuracyLevel
    /// The shortest time between updates that any client wants, in seconds; 0 for every fix.
    package var minimumInterval: UInt32

    package init(level: AccuracyLevel, minimumInterval: UInt32) {
        self.level = level
        self.minimumInterval = minimumInterval
    }

    /// Adds what somebody else wants.
    package mutating func formUnion(_ other: Demand) {
        level = max(level, other.level)
        minimumInterval = min(minimumInterval, other.minimumInterval)
    }
}
