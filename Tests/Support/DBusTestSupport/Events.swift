import EventLoop
import LocationTestSupport

/// What has happened, in order, for a test to wait for.
@ServiceActor
package final class Events<Element: Sendable> {
    /// What was waited for cannot come any more.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private var elements: [Element] = []
    private var failure: Failure?
    private let waiters = Waiters()

    package init() {}

    /// How many have come that nobody has taken yet.
    package var count: Int { elements.count }

    package func add(_ element: Element) {
        elements.append(element)
        waiters.wake()
    }

    /// Ends the waiting for what has not come yet.
    package func fail(_ reason: String) {
        failure = Failure(description: reason)
        waiters.wake()
    }

    /// The next one.
    package func next() async throws -> Element {
        while elements.isEmpty {
            if let failure { throw failure }
            try await waiters.wait()
        }
        return elements.removeFirst()
    }
}
