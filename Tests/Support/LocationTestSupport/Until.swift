import EventLoop
import Testing

/// Comes back once `condition` holds; the loop is free in between. Fails when the test's time is up.
package nonisolated func until(_ condition: @escaping @ServiceActor () async -> Bool) async {
    while !(await condition()) {
        guard !Task.isCancelled else {
            Issue.record("what was waited for did not happen")
            return
        }
        await Task.yield()
    }
}
