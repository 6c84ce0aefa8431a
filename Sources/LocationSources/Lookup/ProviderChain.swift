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
    private let userAgent: String
    private let clock: any Clock
    private let stations: [ProviderStation]

    private var answers: Remembered<LookupQuery.Key, FoundPlace>
    /// Counts how often the answers were forgotten.
    private var generation = 0
    private var searches: [LookupQuery.Key: SharedSearch] = [:]
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
        self.userAgent = userAgent
        self.clock = clock
        var seen: Set<String> = []
        stations = providers.filter { seen.insert($0.url).inserted }.map { ProviderStation($0, clock: clock) }
        answers = Remembered(for: Self.memory, upTo: Self.mostRemembered)
        attachment = network.state.attachment
        wasReachable = isReachable
        following = network.observe { [weak self] in self?.networkChanged() }
    }

    package var isReachable: Bool { stations.contains(where: canReach) }

    package func discover() { network.discover() }

    package func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }

    /// Forgets all answers, for times at which the machine may have been carried off (sleep), and for other providers.
    package func forget() {
        generation += 1
        answers.removeAll()
        for station in stations { station.forget() }
    }

    package func locate(_ query: LookupQuery) async -> LookupResult {
        guard !Task.isCancelled else { return .unavailable(retryAt: clock.now) }
        guard let query = query.sendable else { return .unknown }
        let key = LookupQuery.Key(query, attachment: network.state.attachment)
        let freshness = query.isByAddress ? Self.freshnessByAddress : Self.freshness
        if let answer = answers.value(for: key, at: clock.now), clock.now - answer.measuredAt < freshness {
            return .found(answer)
        }
        return await (searches[key] ?? startSearch(query, key)).wait()
    }

    // MARK: Searching

    private func startSearch(_ query: LookupQuery, _ key: LookupQuery.Key) -> SharedSearch {
        let search = SharedSearch(clock: clock) { [weak self] in self?.end($0, key) }
        searches[key] = search
        search.task = ServiceActor.task { [self] in
            let result = await askAll(query, key)
            end(search, key)
            search.finish(result)
        }
        return search
    }

    private func end(_ search: SharedSearch, _ key: LookupQuery.Key) {
        if searches[key] === search { searches[key] = nil }
    }

    private func askAll(_ query: LookupQuery, _ key: LookupQuery.Key) async -> LookupResult {
        let generation = generation
        var isAnswered = false
        var retryAt: Duration?
        for station in stations where canReach(station) {
            await station.beginTurn()
            defer { station.endTurn() }
            if Task.isCancelled { break }
            // The wait may have been long.
            guard canReach(station) else { continue }
            if rest(of: station) == nil, !station.cannotAnswer(key), let place = await ask(station, query, key) {
                if generation == self.generation { answers.insert(place, for: key, at: place.measuredAt) }
                return .found(place)
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

    /// - Returns: `nil` unless it knows the place.
    private func ask(
        _ station: ProviderStation, _ query: LookupQuery, _ key: LookupQuery.Key
    ) async -> FoundPlace? {
        let finding = await finding(for: query, at: station)
        // Who ended it says nothing about the provider.
        guard !Task.isCancelled else { return nil }
        guard let finding else {
            station.giveUp(on: key)
            return nil
        }
        // Without a transport nothing has been learned of the provider.
        if case .trouble(let trouble) = finding, trouble.kind == .noAnswer, transport.rest != nil { return nil }
        station.learn(finding, about: key)
        guard case .place(let coordinate, let accuracy) = finding else { return nil }
        return FoundPlace(
            coordinate: coordinate, accuracy: accuracy, measuredAt: clock.now, isByAddress: query.isByAddress,
            provider: station.provider.host)
    }

    /// Ichnaea has not heard of 5G, and refuses all of a request that holds a tower of it: then it goes without.
    ///
    /// - Returns: `nil` if without there is nothing to ask.
    private func finding(for query: LookupQuery, at station: ProviderStation) async -> LookupFinding? {
        let older = query.withoutNewRadio
        guard older != query else { return await send(query, to: station.provider) }
        if !station.refusesNewRadio {
            let finding = await send(query, to: station.provider)
            guard case .trouble(let trouble) = finding, trouble.kind == .badRequest else { return finding }
            station.refusesNewRadio = true
        }
        return older.isByAddress ? nil : await send(older, to: station.provider)
    }

    private func send(_ query: LookupQuery, to provider: LookupProvider) async -> LookupFinding {
        let request = LookupRequest(url: provider.url, userAgent: userAgent, body: query.body(at: clock.now))
        return LookupFinding(await transport.send(request), isByAddress: query.isByAddress)
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
