import EventLoop

/// Tests that wait for something to happen, until it does or their time is up.
@ServiceActor
package final class Waiters {
    private var continuations: [CheckedContinuation<Void, Never>] = []

    package nonisolated init() {}

    /// Comes back with the next ``wake()``.
    ///
    /// - Throws: `CancellationError` where the test has used up its time.
    package func wait() async throws {
        try Task.checkCancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuations.append($0) }
        } onCancel: {
            // The others look again, and wait on.
            ServiceActor.task { [weak self] in self?.wake() }
        }
        try Task.checkCancellation()
    }

    package func wake() {
        let woken = continuations
        continuations = []
        for continuation in woken { continuation.resume() }
    }
}
