import EventLoop

/// One result to come that several may wait for.
@ServiceActor
final class SharedResult<Value: Sendable> {
    /// The task that finds it out, if that is to end when nobody waits any more.
    var task: Task<Void, Never>?

    private let abandoned: @ServiceActor (SharedResult) -> Void
    private var value: Value?
    private var waiting: [Int: CheckedContinuation<Value?, Never>] = [:]
    private var lastNumber = 0

    /// - Parameter abandoned: called when the last one that waited has left; the task is cancelled by then.
    init(abandoned: @escaping @ServiceActor (SharedResult) -> Void = { _ in }) { self.abandoned = abandoned }

    /// Comes back with the result, or at once as `nil` with the task that waits.
    func wait() async -> Value? {
        if let value { return value }
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The task may have given way on its way here.
                if let value { return continuation.resume(returning: value) }
                waiting[number] = continuation
                // Cancelled before there was anything to end.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            ServiceActor.task { self.leave(number) }
        }
    }

    func finish(_ value: Value) {
        guard self.value == nil else { return }
        self.value = value
        let released = waiting
        waiting = [:]
        for number in released.keys.sorted() { released[number]?.resume(returning: value) }
    }

    private func leave(_ number: Int) {
        guard let continuation = waiting.removeValue(forKey: number) else { return }
        if waiting.isEmpty {
            task?.cancel()
            abandoned(self)
        }
        continuation.resume(returning: nil)
    }
}
