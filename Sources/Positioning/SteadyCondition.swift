import EventLoop

/// A condition that does not flap: what is worse than before counts only once it has lasted.
@ServiceActor
final class SteadyCondition {
    private(set) var value = PositioningCondition.idle

    /// Called with the value before.
    var onChange: (@ServiceActor (PositioningCondition) -> Void)?

    /// How long something worse has to last.
    static let patience = Duration.seconds(5)

    private let clock: any Clock
    /// What is to come, if it lasts until then.
    private var next: PositioningCondition?
    private var wait: Timer?

    init(_ clock: any Clock) { self.clock = clock }

    func become(_ condition: PositioningCondition) {
        switch (value, condition) {
        case _ where value == condition:
            (next, wait) = (nil, nil)
        case (_, .idle), (_, .suspended), (_, .delivering), (.noSource, _), (.idle, .acquiring),
            (.suspended, .acquiring):
            take(condition)
        case (.idle, .noSource), (.suspended, .noSource):
            // Something may come that has not had the time to.
            take(.acquiring)
            hold(condition)
        default:
            hold(condition)
        }
    }

    private func hold(_ condition: PositioningCondition) {
        next = condition
        guard wait == nil else { return }
        wait = clock.after(Self.patience) { [weak self] in
            guard let self, let next else { return }
            take(next)
        }
    }

    private func take(_ condition: PositioningCondition) {
        let old = value
        (value, next, wait) = (condition, nil, nil)
        onChange?(old)
    }
}
