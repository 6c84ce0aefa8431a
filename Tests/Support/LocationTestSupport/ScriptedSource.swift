import EventLoop
import Geolocation
import Positioning

/// A source that a test drives by hand, and that remembers what was asked of it.
@ServiceActor
package final class ScriptedSource: LocationSource {
    package let name: String
    package let kind: Fix.Kind
    package let stopGrace: Duration
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// Change it with ``become(_:)``, which tells the positioner too.
    package private(set) var availableLevel: AccuracyLevel

    /// All that ``run(for:)`` was called with, in order.
    package private(set) var demands: [Demand?] = []
    /// How often ``discover()`` was called.
    package private(set) var discoveries = 0

    /// What the source does as it is told to run or stop: a static one reports at once, for example.
    package var onRun: (@ServiceActor (ScriptedSource, Demand?) -> Void)?
    /// What the source does as it looks for its hardware.
    package var onDiscover: (@ServiceActor (ScriptedSource) -> Void)?

    private let clock: any Clock
    private let waiters = Waiters()

    package init(
        _ name: String, kind: Fix.Kind = .gnss, level: AccuracyLevel = .exact, stopGrace: Duration = .zero,
        clock: any Clock
    ) {
        self.name = name
        self.kind = kind
        self.availableLevel = level
        self.stopGrace = stopGrace
        self.clock = clock
    }

    package var isRunning: Bool { demands.last.flatMap { $0 } != nil }

    /// How often it was started after it had stood still.
    package var starts: Int {
        zip([nil] + demands, demands).filter { $0 == nil && $1 != nil }.count
    }

    package func discover() {
        discoveries += 1
        onDiscover?(self)
    }

    package func run(for demand: Demand?) {
        demands.append(demand)
        waiters.wake()
        onRun?(self, demand)
    }

    /// Comes back when the source runs for a demand that `condition` is true of; at once if it does,
    /// and when the test's time is up.
    package func demanded(where condition: @escaping (Demand?) -> Bool = { $0 != nil }) async {
        if let demand = demands.last, condition(demand) { return }
        let known = demands.count
        while !demands[known...].contains(where: condition), (try? await waiters.wait()) != nil {}
    }

    /// Changes the available level, and reports it.
    package func become(_ level: AccuracyLevel) {
        availableLevel = level
        report?(.availabilityChanged)
    }

    package func send(_ fix: Fix) { report?(.fix(fix)) }

    /// Reports a fix that is measured now, stamped with the system clock unless said otherwise.
    ///
    /// - Parameter age: how long ago it was measured, on both clocks.
    package func send(
        _ latitude: Double, _ longitude: Double, accuracy: Double? = 5, speed: Double? = nil, heading: Double? = nil,
        altitude: Double? = nil, age: Duration = .zero, at timestamp: Timestamp? = nil, device: String? = nil,
        isSimulated: Bool = false
    ) {
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            preconditionFailure("a test names places that exist")
        }
        let parts = age.components
        let microseconds = parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
        send(
            Fix(
                coordinate: coordinate, horizontalAccuracy: accuracy, altitude: altitude, speed: speed,
                heading: heading, timestamp: timestamp ?? Timestamp(microseconds: clock.wallTime - microseconds),
                measuredAt: clock.now - age, kind: kind, source: device.map { "\(name):\($0)" } ?? name,
                isSimulated: isSimulated))
    }

    /// Reports that the source, or one of its devices, is gone.
    package func lose(device: String? = nil) {
        report?(.lost(source: device.map { "\(name):\($0)" } ?? name))
    }
}
