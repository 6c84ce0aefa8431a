import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct CompassTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let bus: PrivateBus
        let connection: Connection
        let compass: Compass
        private(set) var told: [Double?] = []

        init() async throws {
            bus = try await PrivateBus()
            connection = try bus.connect(clock: clock)
            compass = Compass(connection: connection, clock: clock)
            compass.onChange = { [unowned self] in told.append(compass.heading) }
            await until { self.clock.timersSet > 0 && self.clock.pendingTimers == 0 }
        }

        func proxy(hasCompass: Bool = true, heading: Double = 90) async throws -> FakeSensorProxy {
            try await FakeSensorProxy(bus.connect(), hasCompass: hasCompass, heading: heading)
        }

        /// A compass that is claimed and has been read.
        func claimed(heading: Double = 90) async throws -> FakeSensorProxy {
            let proxy = try await proxy(heading: heading)
            compass.isWanted = true
            await until { self.compass.heading == heading }
            return proxy
        }

        func settle(_ proxy: FakeSensorProxy) async throws {
            try await proxy.settle()
            for _ in 0..<5 { try await connection.settle() }
            await clock.settle()
        }
    }

    @Test("it is claimed while somebody wants to know, and released after")
    @ServiceActor
    func claimed() async throws {
        let bench = try await Bench()
        let proxy = try await bench.proxy()
        try await bench.settle(proxy)
        #expect(proxy.claims == 0 && bench.compass.heading == nil)

        bench.compass.isWanted = true
        await until { bench.compass.heading == 90 }
        #expect(proxy.claims == 1 && proxy.releases == 0)
        bench.compass.isWanted = false
        await until { proxy.releases == 1 }

        #expect(bench.compass.heading == nil && bench.told == [90])
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a small turn is none, also across north, and turns are told once a second with the last of them")
    @ServiceActor
    func turns() async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed(heading: 358)

        try proxy.turn(0, 2.9)
        try await bench.settle(proxy)
        await bench.clock.advance(by: .seconds(2))
        #expect(bench.told == [358])
        try proxy.turn(3)
        await until { bench.told.count == 2 }
        try proxy.turn(40, 80, 120)
        await until { bench.clock.pendingTimers == 1 }
        try await bench.settle(proxy)
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.told == [358, 3, 120])
    }

    @Test("a turn that is taken back within the second is not told")
    @ServiceActor
    func backAgain() async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed()

        try proxy.turn(180, 91)
        await until { bench.clock.pendingTimers == 1 }
        try await bench.settle(proxy)
        await bench.clock.advance(by: .seconds(5))

        #expect(bench.told == [90] && bench.clock.pendingTimers == 0)
    }

    @Test("what no compass can mean is unknown", arguments: [-1, 360.5, .infinity, .nan, -.infinity, 1e300])
    @ServiceActor
    func nonsense(angle: Double) async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed()
        await bench.clock.advance(by: .seconds(1))

        try proxy.turn(angle)

        await until { bench.told == [90, nil] }
    }

    @Test("a property of another type is not read")
    @ServiceActor
    func types() async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed()

        try proxy.announce("CompassHeading", .string("north"))
        try proxy.announce("CompassHeading", .int32(200))
        try await bench.settle(proxy)
        await bench.clock.advance(by: .seconds(5))

        #expect(bench.told == [90])
    }

    @Test("a machine without a compass claims none until it gets one")
    @ServiceActor
    func plugged() async throws {
        let bench = try await Bench()
        let proxy = try await bench.proxy(hasCompass: false)
        bench.compass.isWanted = true
        try await bench.settle(proxy)
        #expect(proxy.claims == 0)

        try proxy.plug(true)
        await until { bench.compass.heading == 90 }
        await bench.clock.advance(by: .seconds(1))
        try proxy.plug(false)

        await until { bench.told == [90, nil] }
        #expect(proxy.claims == 1)
    }

    @Test("a proxy that dies takes the heading with it, and one that comes is claimed")
    @ServiceActor
    func dies() async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed()
        await bench.clock.advance(by: .seconds(1))

        proxy.leave()
        await until { bench.compass.heading == nil }
        await bench.clock.advance(by: .seconds(1))
        let next = try await bench.proxy(heading: 200)
        await until { bench.compass.heading == 200 }

        #expect(next.claims == 1 && bench.told == [90, nil, 200])
    }

    @Test("a proxy that refuses is asked again after a minute")
    @ServiceActor
    func refuses() async throws {
        let bench = try await Bench()
        let proxy = try await bench.proxy()
        proxy.behaviour.refusal = .accessDenied("not you")
        bench.compass.isWanted = true
        await until { bench.clock.hasTimer(in: .seconds(60)) }

        try proxy.turn(10)
        try await bench.settle(proxy)
        #expect(bench.compass.heading == nil)
        proxy.behaviour.refusal = nil
        await bench.clock.advance(by: .seconds(60))

        await until { bench.compass.heading == 10 }
        #expect(proxy.claims == 2)
    }

    @Test("a proxy that never answers is asked again after a minute, while somebody wants to know")
    @ServiceActor
    func deaf() async throws {
        let bench = try await Bench()
        let deaf = try await DeafService("net.hadess.SensorProxy", on: bench.bus)
        try await bench.connection.settle()
        bench.compass.isWanted = true
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        try await bench.connection.settle()

        await bench.clock.advance(by: .seconds(5))
        await until { bench.clock.hasTimer(in: .seconds(60)) }
        bench.compass.isWanted = false
        #expect(bench.clock.pendingTimers == 0)
        await deaf.stop()
        let proxy = try await bench.claimed()

        #expect(proxy.claims == 1)
    }

    @Test("a proxy that talks all the time is told of once a second")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench()
        let proxy = try await bench.claimed()

        for step in 0..<2000 {
            try proxy.turn(Double(step * 7 % 360))
            if step % 100 == 0 { try proxy.plug(step % 200 == 0) }
        }
        try await bench.settle(proxy)
        #expect(bench.told == [90])
        await bench.clock.advance(by: .milliseconds(999))
        #expect(bench.told == [90])
        await bench.clock.advance(by: .milliseconds(1))

        #expect(bench.told.count == 2 && proxy.claims == 1)
    }
}
