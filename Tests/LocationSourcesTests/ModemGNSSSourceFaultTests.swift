import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

/// Modems that refuse, hang, flood or go.
@Suite(.timeLimit(.minutes(1))) struct ModemGNSSSourceFaultTests {
    init() { EventLoop.startThread() }

    private typealias Bench = ModemGNSSBench

    @Test("a refused modem is no exact source while it is refused, and is tried again after a minute")
    @ServiceActor
    func refused() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.setupBehaviour.refusal = FakeModem.unauthorized
        modem.tell(nmea: gga("120000"))

        bench.source.run(for: .exact)
        await until { bench.source.availableLevel == .none }
        bench.source.run(for: nil)
        #expect(bench.source.availableLevel == .exact)
        bench.source.run(for: .exact)
        #expect(bench.source.availableLevel == .none)
        modem.setupBehaviour.refusal = nil
        await bench.clock.advance(by: .seconds(60))
        await until { bench.fixes.count == 1 }

        #expect(bench.source.availableLevel == .exact)
        #expect(modem.setups.count == 2)
    }

    @Test("a modem that is read by nobody else's leave is no exact source either")
    @ServiceActor
    func readRefused() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.readBehaviour.refusal = FakeModem.unauthorized

        bench.source.run(for: .exact)
        await until { bench.source.availableLevel == .none }
        #expect(bench.clock.hasTimer(in: .seconds(60)))
        modem.readBehaviour.refusal = nil
        await bench.clock.advance(by: .seconds(60))
        await until { bench.source.availableLevel == .exact }

        #expect(modem.reads == 2)
    }

    @Test("a modem that does not answer any more loses its position, and goes on when it answers")
    @ServiceActor
    func hangs() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.tell(nmea: gga("120000"))
        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }
        modem.readBehaviour.hang()

        await until { bench.clock.hasTimer(in: .seconds(1)) }
        let reads = modem.reads
        await bench.clock.advance(by: .seconds(1))
        await until { modem.reads > reads }
        await bench.clock.advance(by: .seconds(10))
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        #expect(bench.source.availableLevel == .none)
        modem.readBehaviour.release()
        modem.tell(nmea: gga("120012"))
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 2 }

        #expect(bench.source.availableLevel == .exact)
    }

    @Test("a modem that vanishes takes its position with it, and one that returns as another object is used at once")
    @ServiceActor
    func vanishes() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.tell(nmea: gga("120000"))
        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }

        bench.modems.manager.unplug(modem)
        await until { bench.source.availableLevel == .none }
        #expect(bench.reports.all.contains(.lost(source: "modem-gps")))
        let other = bench.modems.manager.plug()
        other.tell(nmea: gga("120001"))
        await until { bench.fixes.count == 2 }

        #expect(bench.source.availableLevel == .exact)
        #expect(bench.clock.now == .seconds(1000))
    }

    @Test("a ModemManager that dies midway and comes again is used again at once")
    @ServiceActor
    func restart() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.tell(nmea: gga("120000"))
        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }

        bench.modems.manager.die()
        await until { bench.source.availableLevel == .none }
        #expect(bench.reports.all.contains(.lost(source: "modem-gps")))
        let manager = FakeModemManager(try bench.modems.bus.connect())
        manager.plug().tell(nmea: gga("120001"))
        try await manager.start()
        await until { bench.fixes.count == 2 }

        #expect(bench.clock.now == .seconds(1000))
    }

    @Test("of several modems one is used, and another one if it refuses or goes")
    @ServiceActor
    func several() async throws {
        let bench = try await Bench()
        let first = await bench.plug()
        let second = await bench.plug()
        first.setupBehaviour.refusal = FakeModem.wrongState
        second.tell(nmea: gga("120000"))

        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }
        first.setupBehaviour.refusal = nil
        first.tell(nmea: gga("120001"))
        #expect(bench.source.availableLevel == .exact && first.enabled == 1)
        bench.modems.manager.unplug(second)
        await bench.clock.advance(by: .seconds(60))
        await until { bench.fixes.count == 2 }

        #expect(second.setups.map(\.sources) == [5])
    }

    @Test("signs without number and positions without sense make no fix, and no more questions")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.positions[4] = Variant(.uint32(7))
        bench.source.run(for: .exact)
        await until { bench.clock.hasTimer(in: .seconds(1)) }

        for _ in 0..<1000 { modem.giveSign() }
        for _ in 0..<1000 { modem.become(enabled: 5) }
        try await bench.modems.settle()
        #expect(modem.reads == 1)
        modem.positions[4] = Variant(.string(String(repeating: "$GPGGA,", count: 100_000)))
        await until { bench.clock.hasTimer(in: .seconds(1)) }
        await bench.clock.advance(by: .seconds(1))
        await until { modem.reads == 2 && bench.clock.hasTimer(in: .seconds(60)) }

        #expect(bench.fixes.isEmpty)
    }

    @Test("beside a modem that says no another source serves, and nothing exact is promised")
    @ServiceActor
    func besideAnother() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.setupBehaviour.refusal = FakeModem.unauthorized
        let wifi = ScriptedSource("wifi", kind: .wifi, level: .street, clock: bench.clock)
        let positioner = Positioner(sources: [bench.source, wifi], clock: bench.clock)
        #expect(positioner.availableLevel == .exact)

        positioner.demand = .exact
        await until { positioner.availableLevel == .street }
        wifi.send(52.5, 13.4, accuracy: 40)
        #expect(positioner.position.fine?.kind == .wifi)
        modem.setupBehaviour.refusal = nil
        await bench.clock.advance(by: .seconds(60))
        await until { positioner.availableLevel == .exact }

        #expect(modem.setups.count == 2)
    }
}
