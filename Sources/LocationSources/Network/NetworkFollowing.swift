import EventLoop

/// Knows how the machine is connected, and says when that changes.
@ServiceActor
package protocol NetworkFollowing: AnyObject, Sendable {
    var state: NetworkState { get }

    /// Starts looking, once. Until then there is no network.
    func discover()

    /// Calls `handler` after each change of ``state``, until the observation is let go.
    func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation
}

/// How the machine is connected.
package struct NetworkState: Sendable, Hashable {
    /// Whether there is a way to other machines.
    package var isOnline: Bool
    /// Whether the default route leads through a tunnel, so that the machine's address says nothing about its place.
    package var isTunnelled: Bool
    /// Changes whenever the machine is connected in another way (route, network, tunnel), even if all else is the same.
    package var attachment: UInt64

    package init(isOnline: Bool, isTunnelled: Bool = false, attachment: UInt64 = 0) {
        self.isOnline = isOnline
        self.isTunnelled = isTunnelled
        self.attachment = attachment
    }
}
