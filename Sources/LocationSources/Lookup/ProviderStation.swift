import EventLoop
import Geolocation
import LookupProtocol

/// One provider of a chain, with what is known of it. It is asked one thing at a time.
@ServiceActor
final class ProviderStation {
    let provider: LookupProvider

    private let transport: any LookupTransport
    private let userAgent: String
    private let clock: any Clock
    /// Whether it has taken a request with a 5G tower in it for wrong.
    private var refusesNewRadio = false
    private var health = ProviderHealth()
    /// What it does not know, or does not take. It may have learned in the meantime, so that this ends.
    private var hopeless: Remembered<LookupQuery.Key, Void>
    /// Counts how often the answers were forgotten.
    private var generation = 0
    /// What whoever has the turn asks about.
    private var turn: LookupQuery.Key?
    private var queue: [(key: LookupQuery.Key, place: SharedResult<Void>)] = []
    private var request: Task<Void, Never>?

    init(_ provider: LookupProvider, transport: any LookupTransport, userAgent: String, clock: any Clock) {
        self.provider = provider
        self.transport = transport
        self.userAgent = userAgent
        self.clock = clock
        hopeless = Remembered(for: ProviderChain.memory, upTo: ProviderChain.mostRemembered)
    }

    /// When it may be asked again; `nil` if it may be now.
    var rest: Duration? { health.rest(at: clock.now) }

    func cannotAnswer(_ key: LookupQuery.Key) -> Bool { hopeless.value(for: key, at: clock.now) != nil }

    func forget() {
        generation += 1
        hopeless.removeAll()
    }

    /// - Returns: whether it may be asked earlier than it could before.
    func forgiveNetwork() -> Bool { health.forgiveNetwork(at: clock.now) }

    /// Ends the request that is open; nothing is learned of it.
    func end() { request?.cancel() }

    // MARK: Turns

    /// Waits until nobody else asks; as the first one where that is about the same, since its answer is wanted.
    ///
    /// - Returns: whether it is the caller's turn now, until ``endTurn()`` or ``ask(_:about:found:)``; otherwise its task
    ///   is cancelled.
    func beginTurn(about key: LookupQuery.Key) async -> Bool {
        if turn != nil {
            let place = SharedResult<Void> { [weak self] left in self?.queue.removeAll { $0.place === left } }
            queue.insert((key, place), at: turn == key ? 0 : queue.count)
            guard await place.wait() != nil else { return false }
        }
        turn = key
        if Task.isCancelled { endTurn() }
        return !Task.isCancelled
    }

    func endTurn() {
        turn = nil
        guard !queue.isEmpty else { return }
        let next = queue.removeFirst()
        // Nobody comes in between.
        turn = next.key
        next.place.finish(())
    }

    // MARK: Asking

    /// Asks it, with which the caller's turn is over.
    ///
    /// What has left this machine runs to its end, also where the caller's task is cancelled: else nothing would ever be
    /// learned from the questions of those who do not stay, and each of them would be another request.
    ///
    /// - Parameter found: called with the place, unless the answers have been forgotten meanwhile.
    /// - Returns: `nil` unless it knows the place, and at once where the caller's task is cancelled.
    func ask(
        _ query: LookupQuery, about key: LookupQuery.Key, found: @escaping @ServiceActor (FoundPlace) -> Void
    ) async -> FoundPlace? {
        let result = SharedResult<FoundPlace?>()
        request = ServiceActor.start { [self, generation] in
            let finding = await finding(for: query)
            var place: FoundPlace?
            if !Task.isCancelled {
                let isCurrent = generation == self.generation
                place = learn(finding, of: query, isCurrent ? key : nil)
                if isCurrent, let place { found(place) }
            }
            request = nil
            endTurn()
            result.finish(place)
        }
        return await result.wait() ?? nil
    }

    /// Ichnaea has not heard of 5G, and refuses all of a request that holds a tower of it: then it goes without.
    ///
    /// - Returns: `nil` if without there is nothing to ask.
    private func finding(for query: LookupQuery) async -> LookupFinding? {
        let older = query.withoutNewRadio
        guard older != query else { return await send(query) }
        if !refusesNewRadio {
            let finding = await send(query)
            guard case .trouble(let trouble) = finding, trouble.kind == .badRequest else { return finding }
            refusesNewRadio = true
        }
        return older.isByAddress ? nil : await send(older)
    }

    private func send(_ query: LookupQuery) async -> LookupFinding {
        let request = LookupRequest(url: provider.url, userAgent: userAgent, body: query.body(at: clock.now))
        return LookupFinding(await transport.send(request), isByAddress: query.isByAddress)
    }

    // MARK: Learning

    /// Takes in what came of a request, and logs what that changes.
    ///
    /// - Parameter key: what it is not asked again if it cannot answer.
    private func learn(_ finding: LookupFinding?, of query: LookupQuery, _ key: LookupQuery.Key?) -> FoundPlace? {
        switch finding {
        case nil: giveUp(on: key)
        // Without a transport nothing has been learned of the provider.
        case .trouble(let trouble) where trouble.kind == .noAnswer && transport.rest != nil: break
        case .trouble(let trouble):
            if trouble.kind == .badRequest { giveUp(on: key) }
            if health.failed(trouble, at: clock.now, wallTime: Timestamp(microseconds: clock.wallTime)) {
                Log.notice("lookup at \(provider) fails: \(trouble.reason)")
            }
        case .unknown:
            worked()
            giveUp(on: key)
        case .place(let coordinate, let accuracy):
            worked()
            return FoundPlace(
                coordinate: coordinate, accuracy: accuracy, measuredAt: clock.now, isByAddress: query.isByAddress,
                provider: provider.host)
        }
        return nil
    }

    private func worked() {
        if health.worked() { Log.notice("lookup at \(provider) works again") }
    }

    private func giveUp(on key: LookupQuery.Key?) {
        if let key { hopeless.insert((), for: key, at: clock.now) }
    }
}
