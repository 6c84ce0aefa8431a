/// How positioning as a whole goes.
package enum PositioningCondition: String, Sendable, Hashable, CustomStringConvertible {
    /// Nobody asks.
    case idle
    /// Sources run, and none has a position yet, or none any more.
    case acquiring
    /// There is a position, and it is kept up.
    case delivering
    /// Nothing that could find a position is available.
    case noSource = "no-source"
    /// The machine is about to sleep, or asleep.
    case suspended

    package var description: String { rawValue }
}
