import EventLoop
import Geolocation
import Glibc
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite struct SimulatedRouteTests {
    private let route = SimulatedRoute.bay

    /// Metres between two near places.
    private func distance(_ a: Coordinate, _ b: Coordinate) -> Double {
        let north = (b.latitude - a.latitude) * 111_195
        let east = (b.longitude - a.longitude) * 111_195 * cos(a.latitude * .pi / 180)
        return hypot(north, east)
    }

    @Test("a lap ends where it began and begins again")
    func closed() {
        #expect(route.state(at: 0) == route.state(at: route.duration))
        #expect(distance(route.state(at: 0).coordinate, route.state(at: route.duration - 0.001).coordinate) < 0.1)
        #expect(route.length > 8_000 && route.duration > 400)
    }

    @Test("the car moves as fast as it says, in the direction it says")
    func consistent() {
        for tenth in 0..<Int(route.duration * 10) {
            let (now, then) = (route.state(at: Double(tenth) / 10), route.state(at: Double(tenth + 1) / 10))
            let moved = distance(now.coordinate, then.coordinate)

            #expect(abs(moved - (now.speed + then.speed) / 20) < 0.05)
            if moved > 0.2 {
                let north = then.coordinate.latitude - now.coordinate.latitude
                let east =
                    (then.coordinate.longitude - now.coordinate.longitude) * cos(now.coordinate.latitude * .pi / 180)
                let off = remainder(atan2(east, north) * 180 / .pi - now.heading, 360)
                #expect(abs(off) < 12)
            }
        }
    }

    @Test("speed and heading change as smoothly as in a car, and never beyond the limit")
    func smooth() {
        for second in 0..<Int(route.duration) {
            let (now, then) = (route.state(at: Double(second)), route.state(at: Double(second) + 1))

            #expect(abs(then.speed - now.speed) <= 1.6)
            #expect(abs(remainder(then.heading - now.heading, 360)) * max(now.speed, 1) < 250)
            #expect((0...22.1).contains(now.speed) && (0..<360).contains(now.heading))
        }
    }

    @Test("it stands at the lights")
    func stops() {
        let standing = (0..<Int(route.duration)).filter { route.state(at: Double($0)).speed == 0 }

        #expect(standing.count > 60)
    }

    @Test("any offset is on the route", arguments: [-1.0, -1e6, 1e9, 0.5])
    func anyOffset(offset: Double) {
        let state = route.state(at: offset)

        #expect(state.speed.isFinite && distance(state.coordinate, route.state(at: 0).coordinate) < 6000)
    }
}

@Suite struct SimulatedSourceTests {
    init() { EventLoop.startThread() }

    @Test("it gives a fix at once and then one each second, all marked as simulated")
    @ServiceActor
    func everySecond() async throws {
        let clock = ManualClock()
        let source = SimulatedSource(clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .seconds(3))

        let fixes = reports.all.compactMap(\.fix)
        #expect(fixes.map(\.measuredAt) == [1000, 1001, 1002, 1003].map { .seconds($0) })
        #expect(fixes.allSatisfy { $0.isSimulated && $0.kind == .gnss && $0.source == "simulation" })
        #expect(source.availableLevel == .exact)
        #expect(fixes.last?.coordinate == SimulatedRoute.bay.state(at: 3).coordinate)
    }

    @Test("a faster drive gives more fixes a second, at the speed that they show")
    @ServiceActor
    func faster() async throws {
        let clock = ManualClock()
        let source = SimulatedSource(speed: 10, clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .seconds(2))

        let fixes = reports.all.compactMap(\.fix)
        #expect(fixes.count == 21)
        #expect(fixes[20].speed == SimulatedRoute.bay.state(at: 20).speed * 10)
    }

    @Test(
        "every speed that the configuration takes is kept",
        arguments: [(0.01, 1000, 11), (1000, 1, 1001)] as [(Double, Int, Int)])
    @ServiceActor
    func extremes(speed: Double, seconds: Int, fixes: Int) async throws {
        let clock = ManualClock()
        let source = SimulatedSource(speed: speed, clock: clock)
        let reports = Reports(of: source)

        source.run(for: .exact)
        await clock.advance(by: .seconds(seconds))

        #expect(reports.all.count == fixes)
    }

    @Test("it stands still while nobody looks, and goes on from there")
    @ServiceActor
    func paused() async throws {
        let clock = ManualClock()
        let source = SimulatedSource(clock: clock)
        let reports = Reports(of: source)
        source.run(for: .exact)
        await clock.advance(by: .seconds(1))

        source.run(for: nil)
        #expect(clock.pendingTimers == 0)
        await clock.advance(by: .seconds(60))
        source.run(for: .exact)
        source.run(for: .exact)
        await clock.advance(by: .zero)

        let fixes = reports.all.compactMap(\.fix)
        #expect(fixes.count == 3)
        #expect(fixes.last?.coordinate == SimulatedRoute.bay.state(at: 2).coordinate)
    }
}
