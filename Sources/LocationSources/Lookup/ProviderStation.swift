import EventLoop
import Geolocation
import LookupProtocol

/// One provider of a chain, with what is known of it. It is asked one thing at a time.
@ServiceActor
final class ProviderStation {
    let provider: LookupProvider
    /// Whether it has taken a request with a 5G tower in it for wrong.
    var refusesNewRadio = false

    private let clock: any Clock
    private var health = ProviderHealth()
    /// What it does not know, or does not take. It may have learned in the meantime, so that this ends.
    private var hopeless: Remembered<LookupQuery.Key, Void>
    private var isBusy = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(_ provider: LookupProvider, clock: any Clock) {
        self.provider = provider
        self.clock = clock
        hopeless = Remembered(for: ProviderChain.memory, upTo: ProviderChain.mostRemembered)
    }

    /// When it may be asked again; `nil` if it may be now.
    var rest: Duration? { health.rest(at: clock.now) }

    func cannotAnswer(_ key: LookupQuery.Key) -> Bool { hopeless.value(for: key, at: clock.now) != nil }

    func forget() { hopeless.removeAll() }

    /// - Returns: whether it may be asked earlier than it could before.
    func forgiveNetwork() -> Bool { health.forgiveNetwork(at: clock.now) }

    // MARK: Turns

    /// Waits until nobody else asks. Whoever comes back from this has the turn until ``endTurn()``.
    func beginTurn() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { queue.append($0) }
    }

    func endTurn() {
        guard !queue.isEmpty else {
            isBusy = false
            return
        }
        queue.removeFirst().resume()
    }

    // MARK: Learning

    /// Does not ask it this again.
    func giveUp(on key: LookupQuery.Key) { hopeless.insert((), for: key, at: clock.now) }

    /// Takes in what came of a request, and logs what that changes.
    func learn(_ finding: LookupFinding, about key: LookupQuery.Key) {
        guard case .trouble(let trouble) = finding else {
            if health.worked() { Log.notice("lookup at \(provider) works again") }
            if finding == .unknown { giveUp(on: key) }
            return
        }
        if trouble.kind == .badRequest { giveUp(on: key) }
        if health.failed(trouble, at: clock.now, wallTime: Timestamp(microseconds: clock.wallTime)) {
            Log.notice("lookup at \(provider) fails: \(trouble.reason)")
        }
    }
}
