import EventLoop
import LocationSources

/// A chain of providers that answers as a test says, and remembers what it was asked.
@ServiceActor
final class ScriptedLookup: Geolocating {
    private(set) var queries: [LookupQuery] = []
    var answer: @ServiceActor (LookupQuery) async -> LookupResult = { _ in .unknown }
    var isReachable = true { didSet { observers.notify() } }

    private let observers = Observers()

    func discover() {}

    func locate(_ query: LookupQuery) async -> LookupResult {
        queries.append(query)
        return await answer(query)
    }

    func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }

    /// Says that asking again is worth while.
    func encourage() { observers.notify() }
}

/// A network that is as a test says.
@ServiceActor
final class ScriptedNetwork: NetworkFollowing {
    var state = NetworkState(isOnline: true) { didSet { observers.notify() } }

    private let observers = Observers()

    func discover() {}

    func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }
}
