import EventLoop
import Geolocation
import LocationTestSupport
import Positioning

@testable import LocationSources

/// The source between a lookup and a network that do as the test says.
@ServiceActor
final class IPSourceBench {
    let clock = ManualClock()
    let lookup = ScriptedLookup()
    let network = ScriptedNetwork()
    let source: IPSource
    let reports: Reports

    init(accuracy: Double? = nil) {
        source = IPSource(lookup: lookup, network: network, accuracy: accuracy, clock: clock)
        reports = Reports(of: source)
        source.discover()
    }

    /// What the providers say from now on.
    func answer(_ latitude: Double = 52.5, accuracy: Double = 25_000, age: Duration = .zero) {
        lookup.answer = { [clock] _ in
            .found(
                FoundPlace(
                    coordinate: Coordinate(latitude: latitude, longitude: 13.4)!, accuracy: accuracy,
                    measuredAt: clock.now - age, isByAddress: true, provider: "example.org"))
        }
    }

    func fail(for wait: Duration = .seconds(5)) {
        lookup.answer = { [clock] _ in .unavailable(retryAt: clock.now + wait) }
    }

    func run() { source.run(for: Demand(level: .city, minimumInterval: 0)) }
}
