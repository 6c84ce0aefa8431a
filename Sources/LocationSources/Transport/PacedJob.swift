import EventLoop

/// Does one thing whenever it is asked to, but one at a time and at most once in its rest, however often it is asked.
@ServiceActor
final class PacedJob {
    private let rest: Duration
    private let restsFirst: Bool
    private let clock: any Clock
    private let job: Job
    private var isWanted = false
    private var isRunning = false
    private var task: Task<Void, Never>?
    private var lastStart: Duration?
    private var timer: Timer?

    private enum Job {
        case brief(@ServiceActor () -> Void)
        case long(@ServiceActor () async -> Void)
    }

    /// - Parameters:
    ///   - rest: from one beginning to the next, at least.
    ///   - restsFirst: whether the rest goes before it each time, for what is asked of it in bursts.
    ///   - job: done within ``request()`` where it need not rest.
    init(
        rest: Duration = .seconds(1), restsFirst: Bool = false, clock: any Clock,
        _ job: @escaping @ServiceActor () -> Void
    ) {
        (self.rest, self.restsFirst, self.clock) = (rest, restsFirst, clock)
        self.job = .brief(job)
    }

    /// For a job that takes its time.
    init(clock: any Clock, _ job: @escaping @ServiceActor () async -> Void) {
        (rest, restsFirst, self.clock) = (.seconds(1), false, clock)
        self.job = .long(job)
    }

    func request() {
        isWanted = true
        goOn()
    }

    /// Takes back what was asked for, and lets what is being done end early.
    func cancel() {
        isWanted = false
        timer = nil
        task?.cancel()
    }

    private func goOn() {
        guard isWanted, !isRunning, timer == nil else { return }
        let wait = restsFirst ? rest : lastStart.map { $0 + rest - clock.now } ?? .zero
        guard wait > .zero else { return begin() }
        timer = clock.after(wait) { [weak self] in
            self?.timer = nil
            self?.begin()
        }
    }

    private func begin() {
        isWanted = false
        lastStart = clock.now
        switch job {
        case .brief(let job): job()
        case .long(let job):
            isRunning = true
            task = ServiceActor.task { [weak self] in
                await job()
                self?.isRunning = false
                self?.goOn()
            }
        }
    }
}
