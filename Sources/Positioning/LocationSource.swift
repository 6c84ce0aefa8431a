import EventLoop
import Geolocation

/// Something that finds positions: a receiver, a lookup, a fixed place.
///
/// A source exists until the configuration has no place for it any more. It runs only while it has a demand, and reports
/// everything through `report`, which the positioner sets before anything else. It logs its own troubles, one line per
/// change of state.
@ServiceActor
package protocol LocationSource: AnyObject, Sendable {
    /// As `ListSources` names it, and the beginning of ``Fix/source``: `gpsd`, `nmea-socket`, `simulation`.
    var name: String { get }

    var kind: Fix.Kind { get }

    /// The finest level that hardware and configuration let it serve now; `none` if it cannot run.
    ///
    /// Never says whether there is a fix.
    var availableLevel: AccuracyLevel { get }

    var report: (@ServiceActor (SourceReport) -> Void)? { get set }

    /// Looks for its hardware, as far as that is possible without running. Called once, after the bus name is owned.
    func discover()

    /// Runs for `demand`, or stops where that is `nil`. Called again whenever the demand changes.
    func run(for demand: Demand?)

    /// How long the source goes on after nobody wants it any more, so that hardware which takes time or power to start
    /// is not toggled as clients come and go: 15 s for modems, gpsd and serial ports, nothing for sockets and lookups.
    var stopGrace: Duration { get }

    /// Whether nobody tells it of hardware that comes, so that it sees some only while it runs: gpsd.
    var looksOnlyWhileRunning: Bool { get }
}

extension LocationSource {
    package var stopGrace: Duration { .zero }
    package var looksOnlyWhileRunning: Bool { false }
}

/// What a source tells the positioner.
package enum SourceReport: Sendable, Equatable {
    case fix(Fix)
    /// The named ``Fix/source`` is gone (unplugged, disconnected for good, no fix any more): its last fix no longer counts.
    case lost(source: String)
    /// ``LocationSource/availableLevel`` has changed.
    case availabilityChanged
}
