/// Those who want to be told of one kind of change, in the order in which they came.
///
/// An observer that comes or goes while others are being told is heeded at once.
@ServiceActor
package final class Observers {
    private var handlers: [(id: UInt64, handler: @ServiceActor () -> Void)] = []
    private var last: UInt64 = 0

    package init() {}

    /// Tells `handler` until the observation is let go.
    package func add(_ handler: @escaping @ServiceActor () -> Void) -> Observation {
        last += 1
        let id = last
        handlers.append((id, handler))
        return Observation { [weak self] in self?.handlers.removeAll { $0.id == id } }
    }

    package func notify() {
        for (id, handler) in handlers where handlers.contains(where: { $0.id == id }) { handler() }
    }
}

/// Keeps an observer registered as long as it is held.
@ServiceActor
package final class Observation {
    private let end: @ServiceActor () -> Void

    package init(_ end: @escaping @ServiceActor () -> Void) { self.end = end }

    isolated deinit { end() }
}
