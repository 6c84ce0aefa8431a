internal import CLinux

/// Calls a handler while a descriptor is ready. The loop keeps it until ``cancel()``.
///
/// One watch a descriptor. The descriptor stays its owner's, who cancels the watch before closing it.
@ServiceActor
package final class Watch {
    /// What a descriptor is ready for, or what one waits for (epoll's own bits).
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// Reported without being asked for.
        package static let hangup = Events(rawValue: EPOLLHUP.rawValue)
        /// Reported without being asked for.
        package static let error = Events(rawValue: EPOLLERR.rawValue)
    }

    let descriptor: Int32
    let handler: @ServiceActor (Events) -> Void
    private(set) var id: UInt64 = 0

    /// What is waited for; may be changed at any time.
    package var interest: Events {
        didSet { if interest != oldValue { EventLoop.shared.update(self) } }
    }

    package convenience init(
        _ descriptor: FileDescriptor, for interest: Events, handler: @escaping @ServiceActor (Events) -> Void
    ) {
        self.init(descriptor.raw, for: interest, handler: handler)
    }

    /// Watches a descriptor that a C library owns.
    package init(_ descriptor: Int32, for interest: Events, handler: @escaping @ServiceActor (Events) -> Void) {
        self.descriptor = descriptor
        self.interest = interest
        self.handler = handler
        id = EventLoop.shared.add(self)
    }

    package func cancel() { EventLoop.shared.remove(self) }
}
