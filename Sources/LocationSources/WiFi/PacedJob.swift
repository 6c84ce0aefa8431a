import EventLoop

/// Does one thing whenever it is asked to, but one at a time and at most once a second, however often it is asked.
@ServiceActor
final class PacedJob {
    static let rest = Duration.seconds(1)

    private let clock: any Clock
    private let job: @ServiceActor () async -> Void
    private var isWanted = false
    private var isRunning = false
    private var task: Task<Void, Never>?
    private var lastStart: Duration?
    private var timer: Timer?

    init(clock: any Clock, _ job: @escaping @ServiceActor () async -> Void) {
        self.clock = clock
        self.job = job
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
        let wait = lastStart.map { $0 + Self.rest - clock.now } ?? .zero
        guard wait <= .zero else {
            timer = clock.after(wait) { [weak self] in
                self?.timer = nil
                self?.goOn()
            }
            return
        }
        isWanted = false
        isRunning = true
        lastStart = clock.now
        task = ServiceActor.task { [weak self] in
            await self?.job()
            self?.isRunning = false
            self?.goOn()
        }
    }
}
