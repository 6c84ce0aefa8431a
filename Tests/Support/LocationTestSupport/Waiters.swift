import EventLoop

/// Tests that wait for something to happen, until it does or their time is up.
@ServiceActor
package final class Waiters {
    private var continuations: [CheckedContinuation<Void, Never>] = []
    private var wakes = 0

    package nonisolated init() {}

    /// Comes back with the next ``wake()``.
    ///
    /// - Throws: `CancellationError` where the test has used up its time.
    package func wait() async throws {
        try Task.checkCancellation()
        let known = wakes
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The task may have given way on its way here.
                if wakes == known { continuations.append(continuation) } else { continuation.resume() }
            }
        } onCancel: {
            // The others look again, and wait on.
            ServiceActor.task { [weak self] in self?.wake() }
        }
        try Task.checkCancellation()
    }

    package func wake() {
        wakes += 1
        let woken = continuations
        continuations = []
        for continuation in woken { continuation.resume() }
    }
}
