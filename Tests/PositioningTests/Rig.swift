import EventLoop
import Geolocation
import LocationTestSupport
import Positioning

/// A positioner with sources that a test drives, and what it has said.
@ServiceActor
final class Rig {
    let clock = ManualClock()
    let receiver: ScriptedSource
    let wifi: ScriptedSource
    let address: ScriptedSource
    let positioner: Positioner
    private(set) var updates: [Position] = []
    private(set) var levels: [AccuracyLevel] = []

    /// - Parameter present: which of the sources there are.
    init(_ present: Set<Fix.Kind> = [.gnss, .wifi, .ip], grace: Duration = .zero) {
        receiver = ScriptedSource("gpsd", stopGrace: grace, clock: clock)
        wifi = ScriptedSource("wifi", kind: .wifi, level: .street, clock: clock)
        address = ScriptedSource("ip", kind: .ip, level: .city, clock: clock)
        let sources = [receiver, wifi, address].filter { present.contains($0.kind) }
        positioner = Positioner(sources: sources, clock: clock)
        positioner.onUpdate = { [unowned self] in updates.append($0) }
        positioner.onAvailabilityChange = { [unowned self] in levels.append($0) }
    }

    func want(_ level: AccuracyLevel?, interval: UInt32 = 0) {
        positioner.demand = level.map { Demand(level: $0, minimumInterval: interval) }
    }

    func home(_ source: ScriptedSource, north metres: Double = 0, accuracy: Double = 5) {
        let place = Place.home.north(metres)
        source.send(place.latitude, place.longitude, accuracy: accuracy)
    }
}
