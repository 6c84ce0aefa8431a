import EventLoop

/// Calls that wait for one outcome, each for a time of its own. Each goes exactly once: with the outcome, when its time
/// is up, or when its task is cancelled.
@ServiceActor
final class WaitingRoom<Outcome: Sendable> {
    enum Departure: Sendable {
        case released(Outcome)
        case timedOut
        case cancelled
    }

    private struct Guest {
        let continuation: CheckedContinuation<Departure, Never>
        /// Fires as long as the guest is there.
        let timer: Timer
    }

    private let clock: any Clock
    private var guests: [Int: Guest] = [:]
    private var nextNumber = 0
    private var outcome: Outcome?

    init(clock: any Clock) { self.clock = clock }

    /// Comes back at once if the outcome is known already.
    func wait(until deadline: Duration) async -> Departure {
        if let outcome { return .released(outcome) }
        let number = nextNumber
        nextNumber += 1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The task may have given way on its way here.
                if let outcome { return continuation.resume(returning: .released(outcome)) }
                let timer = clock.after(deadline - clock.now) { [weak self] in self?.dismiss(number, .timedOut) }
                guests[number] = Guest(continuation: continuation, timer: timer)
            }
        } onCancel: {
            // Runs after this call has suspended, also where the task was cancelled before it came.
            ServiceActor.task { self.dismiss(number, .cancelled) }
        }
    }

    /// Lets everybody go, in the order in which they came; whoever comes later does not wait.
    func release(_ outcome: Outcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for number in guests.keys.sorted() { dismiss(number, .released(outcome)) }
    }

    private func dismiss(_ number: Int, _ departure: Departure) {
        guard let guest = guests.removeValue(forKey: number) else { return }
        guest.continuation.resume(returning: departure)
    }
}
