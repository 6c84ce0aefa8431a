import EventLoop

/// One search that several may wait for. It ends when it has a result, or when nobody waits for it any more.
@ServiceActor
final class SharedSearch {
    /// The task that searches.
    var task: Task<Void, Never>?

    private let clock: any Clock
    private let abandoned: @ServiceActor (SharedSearch) -> Void
    private var result: LookupResult?
    private var waiting: [Int: CheckedContinuation<LookupResult, Never>] = [:]
    private var lastNumber = 0

    /// - Parameter abandoned: called when the last one that waited has left; the task is cancelled by then.
    init(clock: any Clock, abandoned: @escaping @ServiceActor (SharedSearch) -> Void) {
        self.clock = clock
        self.abandoned = abandoned
    }

    /// Comes back with the result, or at once as `unavailable` with the task that waits.
    func wait() async -> LookupResult {
        if let result { return result }
        lastNumber += 1
        let number = lastNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting[number] = continuation
                // Cancelled before there was anything to end.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            ServiceActor.task { self.leave(number) }
        }
    }

    func finish(_ result: LookupResult) {
        guard self.result == nil else { return }
        self.result = result
        let released = waiting
        waiting = [:]
        for number in released.keys.sorted() { released[number]?.resume(returning: result) }
    }

    private func leave(_ number: Int) {
        guard let continuation = waiting.removeValue(forKey: number) else { return }
        if waiting.isEmpty {
            task?.cancel()
            abandoned(self)
        }
        continuation.resume(returning: .unavailable(retryAt: clock.now))
    }
}
