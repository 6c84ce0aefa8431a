import Geolocation

/// What all clients together want of the sources, as one value.
package struct Demand: Sendable, Hashable {
    /// The finest level that any client needs.
    package var level: AccuracyLevel
    /// The shortest time between updates that any client wants, in seconds; 0 for every fix.
    package var minimumInterval: UInt32
    /// The kinds of sources that may run for it; `nil` for all.
    package var kinds: Set<Fix.Kind>?

    package init(level: AccuracyLevel, minimumInterval: UInt32, kinds: Set<Fix.Kind>? = nil) {
        self.level = level
        self.minimumInterval = minimumInterval
        self.kinds = kinds
    }

    package func allows(_ kind: Fix.Kind) -> Bool { kinds?.contains(kind) ?? true }

    /// Adds what somebody else wants.
    package mutating func formUnion(_ other: Demand) {
        level = max(level, other.level)
        minimumInterval = min(minimumInterval, other.minimumInterval)
        if let others = other.kinds { kinds?.formUnion(others) } else { kinds = nil }
    }
}
