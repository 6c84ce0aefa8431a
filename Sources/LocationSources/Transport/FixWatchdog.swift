import EventLoop

/// Tells and logs when a receiver has lost its position, with one timer that fixes need not touch.
@ServiceActor
final class FixWatchdog {
    var onLoss: (@ServiceActor () -> Void)?

    private let name: String
    private let clock: any Clock
    private var watch = FixWatch()
    private var timer: Timer?

    init(_ name: String, clock: any Clock) {
        self.name = name
        self.clock = clock
    }

    /// - Returns: whether it is the first one, or the first after a loss.
    @discardableResult
    func fixCame(at now: Duration) -> Bool {
        let isNews = watch.fixCame(at: now)
        if isNews { Log.info("\(name): receiver has a fix") }
        awaitLoss()
        return isNews
    }

    /// Notes that the receiver says it has no fix.
    func fixDenied() { watch.fixDenied() }

    /// Ends it.
    ///
    /// - Returns: whether there is a position that now is lost.
    @discardableResult
    func stop() -> Bool {
        defer { watch = FixWatch() }
        timer = nil
        return watch.state == .live || watch.state == .silent
    }

    private func awaitLoss() {
        guard let deadline = watch.deadline, timer?.isPending != true else { return }
        timer = clock.after(deadline - clock.now) { [weak self] in self?.mayBeLost() }
    }

    private func mayBeLost() {
        switch watch.expire(at: clock.now) {
        case .silent: Log.debug("\(name): no fix for \(FixWatch.silentAfter)")
        case .lost:
            Log.notice("\(name): no fix for \(FixWatch.lostAfter)")
            onLoss?()
        case .live, .waiting, nil: break
        }
        awaitLoss()
    }
}
