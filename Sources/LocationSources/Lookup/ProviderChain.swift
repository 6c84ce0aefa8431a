import EventLoop
import Geolocation
import LookupProtocol

/// Asks lookup services that speak the protocol of Ichnaea, one after the other, until one of them knows the place.
///
/// A provider in trouble is left alone for a time that grows, and the next one is asked at once. Answers are kept in
/// memory, never on disk, for two uses:
///
/// - One that is younger than ``freshness`` (by address: ``freshnessByAddress``) is given again without asking anybody.
/// - An older one about access points or cells, up to ``memory``, is given where nobody can answer now.
///
/// Either way it keeps its own time, so that whoever gets it sees how old it is. What a fix made of it is worth after an
/// hour or a day is for arbitration to say, which lets fixes of lookups live for half an hour: the older ones are of use
/// to those alone that know better, such as a source that has just seen the same access points.
@ServiceActor
package final class ProviderChain: Geolocating {
    /// How old an answer may be for nobody to be asked.
    package static let freshness = Duration.seconds(300)
    /// The same for the place of the address, which changes only with the network, and then is another question.
    package static let freshnessByAddress = Duration.seconds(3600)
    /// How long an answer, or the lack of one, is of any use.
    package static let memory = Duration.seconds(172_800)
    /// How many answers are kept in memory, and how many questions that a provider cannot answer.
    package static let mostRemembered = 256
    /// When asking again is worth while where nobody can be reached; the network's return comes first.
    private static let offlineWait = Duration.seconds(300)

    private let transport: any LookupTransport
    private let network: any NetworkFollowing
    private let clock: any Clock
    private let stations: [ProviderStation]

    private var answers: Remembered<LookupQuery.Key, FoundPlace>
    private var searches: [LookupQuery.Key: SharedResult<LookupResult>] = [:]
    private let observers = Observers()
    private var following: Observation?
    private var wasReachable = false
    private var attachment: UInt64

    /// - Parameters:
    ///   - providers: the preferred one first; one that comes twice is asked once.
    ///   - userAgent: says who asks, as ``UserAgent/text(version:osRelease:)`` does.
    package init(
        providers: [LookupProvider], transport: any LookupTransport, network: any NetworkFollowing, userAgent: String,
        clock: any Clock
    ) {
        self.transport = transport
        self.network = network
        self.clock = clock
        var seen: Set<String> = []
        stations = providers.filter { seen.insert($0.url).inserted }.map {
            ProviderStation($0, transport: transport, userAgent: userAgent, clock: clock)
        }
        answers = Remembered(for: Self.memory, upTo: Self.mostRemembered)
        attachment = network.state.attachment
        wasReachable = isReachable
        following = network.observe { [weak self] in self?.networkChanged() }
    }

    /// Requests may be open that nobody waits for.
    isolated deinit { for station in stations { station.end() } }

    package var isReachable: Bool { stations.contains(where: canReach) }

    package func discover() { network.discover() }

    package func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }

    /// Forgets all answers, for times at which the machine may have been carried off (sleep), and for other providers.
    package func forget() {
        answers.removeAll()
        // Who asks from now on asks anew.
        searches.removeAll()
        for station in stations { station.forget() }
    }

    package func locate(_ query: LookupQuery) async -> LookupResult {
        guard !Task.isCancelled else { return .unavailable(retryAt: clock.now) }
        guard let query = query.sendable else { return .unknown }
        let key = LookupQuery.Key(query, attachment: network.state.attachment)
        if let answer = freshAnswer(to: query, key) { return .found(answer) }
        return await (searches[key] ?? startSearch(query, key)).wait() ?? .unavailable(retryAt: clock.now)
    }

    private func freshAnswer(to query: LookupQuery, _ key: LookupQuery.Key) -> FoundPlace? {
        let freshness = query.isByAddress ? Self.freshnessByAddress : Self.freshness
        guard let answer = answers.value(for: key, at: clock.now), clock.now - answer.measuredAt < freshness else {
            return nil
        }
        return answer
    }

    // MARK: Searching

    /// Ends when it has a result, or when nobody waits for it any more. A request that has left by then does not end.
    private func startSearch(_ query: LookupQuery, _ key: LookupQuery.Key) -> SharedResult<LookupResult> {
        let search = SharedResult<LookupResult> { [weak self] in self?.end($0, key) }
        searches[key] = search
        search.task = ServiceActor.task { [self] in
            let result = await askAll(query, key)
            end(search, key)
            search.finish(result)
        }
        return search
    }

    private func end(_ search: SharedResult<LookupResult>, _ key: LookupQuery.Key) {
        if searches[key] === search { searches[key] = nil }
    }

    private func askAll(_ query: LookupQuery, _ key: LookupQuery.Key) async -> LookupResult {
        var isAnswered = false
        var retryAt: Duration?
        for station in stations where canReach(station) {
            guard await station.beginTurn(about: key) else { break }
            // The wait may have been long, and for a request about the same.
            let answer = freshAnswer(to: query, key)
            if answer == nil, canReach(station), rest(of: station) == nil, !station.cannotAnswer(key) {
                if let place = await ask(station, query, key) { return .found(place) }
                if Task.isCancelled { break }
            } else {
                station.endTurn()
                if let answer { return .found(answer) }
                guard canReach(station) else { continue }
            }
            if let rest = rest(of: station), !station.cannotAnswer(key) {
                retryAt = min(rest, retryAt ?? rest)
            } else {
                isAnswered = true
            }
        }
        if isAnswered, retryAt == nil { return .unknown }
        if !query.isByAddress, let answer = answers.value(for: key, at: clock.now) { return .found(answer) }
        return .unavailable(retryAt: retryAt ?? clock.now + Self.offlineWait)
    }

    /// When it may be asked again, by way of a transport that may rest too; `nil` if it may be now.
    private func rest(of station: ProviderStation) -> Duration? {
        [station.rest, transport.rest].compactMap(\.self).max()
    }

    private func ask(
        _ station: ProviderStation, _ query: LookupQuery, _ key: LookupQuery.Key
    ) async -> FoundPlace? {
        let state = network.state
        return await station.ask(query, about: key) { [weak self] place in
            // Where the network has changed, the address may have been that of another one, or of a tunnel.
            guard let self, !query.isByAddress || network.state == state else { return }
            answers.insert(place, for: key, at: place.measuredAt)
        }
    }

    // MARK: The network

    private func canReach(_ station: ProviderStation) -> Bool { station.provider.isLocal || network.state.isOnline }

    private func networkChanged() {
        let hasMoved = network.state.attachment != attachment
        var isWorthAsking = isReachable != wasReachable || isReachable && hasMoved
        (wasReachable, attachment) = (isReachable, network.state.attachment)
        for station in stations where station.forgiveNetwork() { isWorthAsking = true }
        if isWorthAsking { observers.notify() }
    }
}
