import EventLoop

/// What has happened, in order, for a test to wait for.
@ServiceActor
package final class Events<Element: Sendable> {
    /// What was waited for cannot come any more.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private var elements: [Element] = []
    private var failure: Failure?
    private var waiting: CheckedContinuation<Void, Never>?

    package init() {}

    /// How many have come that nobody has taken yet.
    package var count: Int { elements.count }

    package func add(_ element: Element) {
        elements.append(element)
        resume()
    }

    /// Ends the waiting for what has not come yet.
    package func fail(_ reason: String) {
        failure = Failure(description: reason)
        resume()
    }

    /// The next one. One waits at a time.
    package func next() async throws -> Element {
        while elements.isEmpty {
            if let failure { throw failure }
            await withCheckedContinuation { waiting = $0 }
        }
        return elements.removeFirst()
    }

    private func resume() {
        waiting?.resume()
        waiting = nil
    }
}
