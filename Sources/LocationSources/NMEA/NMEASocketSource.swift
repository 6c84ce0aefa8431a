import EventLoop
import Geolocation
import Positioning

/// A receiver whose NMEA sentences come over a Unix socket (GeoClue's `[network-nmea] nmea-socket`) or TCP.
///
/// Connected only while somebody wants positions. Nothing is ever written.
@ServiceActor
package final class NMEASocketSource: LocationSource {
    package nonisolated let name: String
    package nonisolated let kind = Fix.Kind.gnss
    /// Exact as soon as it is configured: the feeder may come after the client.
    package let availableLevel = AccuracyLevel.exact
    package let stopGrace = Duration.zero
    package var report: (@ServiceActor (SourceReport) -> Void)?

    private let feed: NMEAFeed

    package init(name: String = "nmea-socket", address: StreamAddress, clock: any Clock) {
        self.name = name
        feed = NMEAFeed(name, from: address, clock: clock)
        feed.report = { [weak self] in self?.report?($0) }
    }

    package func discover() {}

    package func run(for demand: Demand?) {
        if demand == nil { feed.stop() } else { feed.start() }
    }
}
