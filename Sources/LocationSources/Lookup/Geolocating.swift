import EventLoop
import Geolocation

/// Answers where something can be received: the chain of lookup providers, as sources see it.
@ServiceActor
package protocol Geolocating: AnyObject, Sendable {
    /// Whether there is a provider that could be reached now: the network is up, or it is on this machine.
    var isReachable: Bool { get }

    /// Starts finding out whether there is, once.
    func discover()

    /// Always ends; at once with a cancelled task, as `unavailable`. What has been sent by then runs on to its own end, and
    /// whoever asks the same later gets the use of it.
    func locate(_ query: LookupQuery) async -> LookupResult

    /// Calls `handler` when ``isReachable`` has changed, when asking again has become worth while earlier than the last
    /// answer said, and when the machine is connected in another way and so may be elsewhere, until the observation is
    /// let go.
    func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation
}

/// What came of asking for a place.
package enum LookupResult: Sendable, Hashable {
    case found(FoundPlace)
    /// Every provider that could be asked says that it does not know these. Asking for the same again is of no use.
    case unknown
    /// Nobody could be asked, or nobody gave an answer that could be used. Not before `retryAt` (time since boot) is
    /// anybody asked again.
    case unavailable(retryAt: Duration)
}

/// A place that a provider gave and that has been checked.
package struct FoundPlace: Sendable, Hashable {
    package var coordinate: Coordinate
    /// Radius in metres, 95 %, as the provider says.
    package var accuracy: Double
    /// When it was found, as time since boot; in the past for an answer that is remembered.
    package var measuredAt: Duration
    /// Whether it was found by the machine's address, whatever else was asked.
    package var isByAddress: Bool
    /// Which provider's word it is: a host name, without path and key.
    package var provider: String

    package init(
        coordinate: Coordinate, accuracy: Double, measuredAt: Duration, isByAddress: Bool, provider: String
    ) {
        self.coordinate = coordinate
        self.accuracy = accuracy
        self.measuredAt = measuredAt
        self.isByAddress = isByAddress
        self.provider = provider
    }
}
