import EventLoop
import Geolocation
import Positioning
import Routes

/// A receiver that there is not: plays a recorded route over and over, with its pauses and gaps, and says in every fix
/// that it does.
@ServiceActor
package final class RouteSource: LocationSource {
    package nonisolated let name = "simulation"
    package nonisolated let kind = Fix.Kind.gnss
    package let availableLevel = AccuracyLevel.exact
    package let stopGrace = Duration.zero
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// Between the end of the route and its beginning: so long that nobody works out a speed from the two.
    static let roundPause = Duration.seconds(15)

    /// Radius of uncertainty of a good receiver under open sky, in metres, for points that state none.
    private static let accuracy = 5.0

    private let route: Route
    private let speed: Double
    private let clock: any Clock

    private var next = 0
    /// Where on the route it was, in the route's own time, at a moment of the clock.
    private var anchor = (offset: Duration.zero, moment: Duration.zero)
    private var timer: Timer?
    private let watchdog: FixWatchdog

    /// - Parameter speed: how many times faster than it was taken, above 0.
    package init(route: Route, speed: Double = 1, clock: any Clock) {
        self.route = route
        self.speed = speed
        self.clock = clock
        watchdog = FixWatchdog(name, clock: clock)
        watchdog.onLoss = { [weak self] in
            guard let self else { return }
            report?(.lost(source: name))
        }
    }

    package func discover() {}

    package func run(for demand: Demand?) {
        if demand == nil {
            guard timer != nil else { return }
            timer = nil
            watchdog.stop()
            anchor.offset = min(
                anchor.offset + (clock.now - anchor.moment) * speed, route.points[next].offset)
        } else if timer == nil {
            anchor.moment = clock.now
            schedule()
        }
    }

    private func schedule() {
        let due = anchor.moment + (route.points[next].offset - anchor.offset) / speed
        timer = clock.after(due - clock.now) { [weak self] in self?.tell() }
    }

    private func tell() {
        let point = route.points[next]
        next += 1
        if next == route.points.count {
            next = 0
            anchor = (.zero, clock.now + Self.roundPause)
        }
        schedule()
        watchdog.fixCame(at: clock.now)
        report?(.fix(fix(at: point)))
    }

    private func fix(at point: Route.Point) -> Fix {
        Fix(
            coordinate: point.coordinate, horizontalAccuracy: point.horizontalAccuracy ?? Self.accuracy,
            altitude: point.altitude, speed: point.speed.map { $0 * speed }, heading: point.heading,
            timestamp: Timestamp(microseconds: clock.wallTime), measuredAt: clock.now, kind: kind, source: name,
            isSimulated: true)
    }
}
