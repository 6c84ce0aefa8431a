import Glibc

/// Where time comes from: the loop's own clock in the daemon, a manual one in tests.
@ServiceActor
package protocol Clock: AnyObject, Sendable {
    /// Time since boot, suspended time included (`CLOCK_BOOTTIME`).
    var now: Duration { get }

    /// Microseconds since the epoch by the system clock, which may step.
    var wallTime: Int64 { get }

    /// Performs `action` once `delay` has passed, unless the returned timer is cancelled or let go before.
    func after(_ delay: Duration, _ action: @escaping @ServiceActor () -> Void) -> Timer
}

/// The system's clocks, with timers of ``EventLoop/shared``.
package final class LoopClock: Clock {
    package static let shared = LoopClock()

    package nonisolated init() {}

    package var now: Duration { Self.now }

    package var wallTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    package func after(_ delay: Duration, _ action: @escaping @ServiceActor () -> Void) -> Timer {
        let timer = Timer(action)
        EventLoop.shared.schedule(timer, at: now + max(delay, .zero))
        return timer
    }

    static nonisolated var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
