import EventLoop

/// Something that is being listened to, until ``cancel()`` or the last reference goes.
@ServiceActor
package final class Subscription {
    private var end: (@ServiceActor () -> Void)?

    init(_ end: @escaping @ServiceActor () -> Void) { self.end = end }

    package func cancel() {
        let end = self.end
        self.end = nil
        end?()
    }

    isolated deinit { end?() }
}
