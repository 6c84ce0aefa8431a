import EventLoop

/// Knows which way the machine points.
@ServiceActor
package protocol HeadingFollowing: AnyObject, Sendable {
    /// Whether anybody wants to know. Nothing is powered before.
    var isWanted: Bool { get set }

    /// In degrees clockwise from north, 0 ..< 360; `nil` while unknown.
    var heading: Double? { get }

    /// Called after ``heading`` has changed for others, and only so often as positions may be told again for it.
    var onChange: (@ServiceActor () -> Void)? { get set }
}
