import EventLoop
import Geolocation
import Positioning

/// A receiver that there is not: drives along a ``SimulatedRoute`` and says so in every fix.
@ServiceActor
package final class SimulatedSource: LocationSource {
    package nonisolated let name = "simulation"
    package nonisolated let kind = Fix.Kind.gnss
    package let availableLevel = AccuracyLevel.exact
    package let stopGrace = Duration.zero
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// Radius of uncertainty of a good receiver under open sky, in metres.
    private static let accuracy = 5.0

    private let route: SimulatedRoute
    private let speed: Double
    private let clock: any Clock
    /// How many fixes there have been; the drive goes on where it was left.
    private var count = 0
    private var timer: Timer?

    /// - Parameter speed: how much faster than a car, above 0: a fix for each second of the drive, `speed` of them in a
    ///   second.
    package init(route: SimulatedRoute = .bay, speed: Double = 1, clock: any Clock) {
        self.route = route
        self.speed = speed
        self.clock = clock
    }

    package func discover() {}

    package func run(for demand: Demand?) {
        if demand == nil {
            timer?.cancel()
            timer = nil
        } else if timer == nil {
            schedule(after: .zero)
        }
    }

    private func schedule(after wait: Duration) {
        timer = clock.after(wait) { [weak self] in
            guard let self else { return }
            schedule(after: .seconds(1) / speed)
            report?(.fix(fix))
        }
    }

    private var fix: Fix {
        defer { count += 1 }
        let state = route.state(at: Double(count))
        return Fix(
            coordinate: state.coordinate, horizontalAccuracy: Self.accuracy, altitude: state.height,
            speed: state.speed * speed, heading: state.speed > 0 ? state.heading : nil,
            timestamp: Timestamp(microseconds: clock.wallTime), measuredAt: clock.now, kind: kind, source: name,
            isSimulated: true)
    }
}
