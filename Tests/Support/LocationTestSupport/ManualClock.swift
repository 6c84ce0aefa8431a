import EventLoop

/// A clock that stands still until a test moves it.
@ServiceActor
package final class ManualClock: Clock {
    package private(set) var now: Duration
    package private(set) var wallTime: Int64

    private var pending: [(deadline: Duration, order: Int, timer: WeakTimer)] = []
    private var order = 0

    private struct WeakTimer { weak var timer: Timer? }

    /// - Parameters:
    ///   - now: time since boot.
    ///   - wallTime: microseconds since the epoch; 2026-06-01T12:00:00Z unless said otherwise.
    package init(now: Duration = .seconds(1000), wallTime: Int64 = 1_780_315_200_000_000) {
        self.now = now
        self.wallTime = wallTime
    }

    package func after(_ delay: Duration, _ action: @escaping @ServiceActor () -> Void) -> Timer {
        let timer = Timer(action)
        order += 1
        pending.append((now + max(delay, .zero), order, WeakTimer(timer: timer)))
        return timer
    }

    /// Moves both clocks on, fires what comes due in order, and lets the loop run the jobs that this queues.
    package func advance(by step: Duration) async {
        let end = now + step
        while let next = pending.filter({ $0.deadline <= end }).min(by: {
            ($0.deadline, $0.order) < ($1.deadline, $1.order)
        }) {
            pending.removeAll { $0.order == next.order }
            move(to: max(now, next.deadline))
            next.timer.timer?.fire()
            await settle()
        }
        move(to: end)
        await settle()
    }

    /// Moves both clocks on at once, as a sleep of the machine does: what has come due in it fires after it.
    package func sleep(for step: Duration) async {
        move(to: now + step)
        await advance(by: .zero)
    }

    /// Steps the system clock alone, as an administrator or NTP does.
    package func stepWallTime(by step: Duration) { wallTime += step.wholeMicroseconds }

    /// Comes back once the jobs that are queued on the loop now, and those that they queue, have run.
    package func settle() async {
        for _ in 0..<8 { await Task.yield() }
    }

    /// How many timers are set.
    package var pendingTimers: Int { pending.filter { $0.timer.timer?.isPending ?? false }.count }

    /// Whether a timer is set that fires after just this delay from now.
    package func hasTimer(in delay: Duration) -> Bool {
        pending.contains { $0.deadline == now + delay && $0.timer.timer?.isPending ?? false }
    }

    /// When the next timer fires, if one is set.
    package var nextDeadline: Duration? {
        pending.filter { $0.timer.timer?.isPending ?? false }.map(\.deadline).min()
    }

    /// How long it is until then.
    package var untilNextTimer: Duration? {
        nextDeadline.map { max($0 - now, .zero) }
    }

    /// How many timers have been set in all, those that have ended included.
    package var timersSet: Int { order }

    private func move(to time: Duration) {
        wallTime += (time - now).wholeMicroseconds
        now = time
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
