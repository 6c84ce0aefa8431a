import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ModemGNSSSourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let modems: ModemBench
        let source: ModemGNSSSource
        let reports: Reports

        init() async throws {
            modems = try await ModemBench()
            source = ModemGNSSSource(directory: modems.directory, clock: modems.clock)
            reports = Reports(of: source)
            source.discover()
        }

        var clock: ManualClock { modems.clock }

        func plug(capabilities: UInt32 = 7, enabled: UInt32 = 1, state: Int32 = 8) async -> FakeModem {
            let modem = modems.manager.plug(capabilities: capabilities, enabled: enabled, state: state)
            await until { self.modems.directory.modems.contains { $0.path == modem.path } }
            return modem
        }

        /// Lets the source read once more, and take in what it has read.
        func readAgain(_ modem: FakeModem) async throws {
            try await modems.settle()
            let reads = modem.reads
            await clock.advance(by: .seconds(1))
            try await modems.settle()
            #expect(modem.reads == reads + 1)
        }

        var fixes: [Fix] { reports.all.compactMap(\.fix) }
    }

    @Test("the receiver is switched on for whoever wants a position, read once a second, and switched off after them")
    @ServiceActor
    func onDemand() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(capabilities: 23, enabled: 17)
        modem.tell(nmea: gga("120000"), rmc("120000"))
        #expect(bench.source.availableLevel == .exact)
        #expect(modem.setups.isEmpty && bench.clock.pendingTimers == 0)

        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }
        modem.tell(nmea: rmc("120001"), gga("120001"))
        try await bench.readAgain(modem)
        try await bench.readAgain(modem)
        bench.source.run(for: nil)
        await until { modem.enabled == 17 }

        #expect(bench.fixes.count == 2)
        #expect(bench.fixes.first?.source == "modem-gps" && bench.fixes.first?.kind == .gnss)
        #expect(bench.fixes.first?.horizontalAccuracy == 19 && bench.fixes.first?.altitude == 55.5)
        #expect(bench.fixes.map(\.measuredAt) == [.seconds(1000), .seconds(1001)])
        #expect(modem.setups.map(\.sources) == [21, 17] && modem.misuse == 0)
        try await bench.modems.settle()
        #expect(bench.clock.pendingTimers == 0 && modem.reads == 3)
    }

    @Test("what a receiver tells that somebody else has had on may be of long ago, so only what comes anew counts")
    @ServiceActor
    func foundOn() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(enabled: 5)
        modem.tell(nmea: gga("110000"))

        bench.source.run(for: .exact)
        try await bench.modems.settle()
        #expect(modem.reads == 1 && bench.fixes.isEmpty)
        modem.tell(nmea: gga("120000"))
        try await bench.readAgain(modem)
        bench.source.run(for: nil)
        try await bench.modems.settle()

        #expect(bench.fixes.count == 1)
        #expect(modem.enabled == 5 && modem.setups.isEmpty)
    }

    @Test("who wants a position more seldom makes it read more seldom, but never more than five seconds apart")
    @ServiceActor
    func interval() async throws {
        let bench = try await Bench()
        _ = await bench.plug()

        bench.source.run(for: Demand(level: .exact, minimumInterval: 3600))

        await until { bench.clock.hasTimer(in: .seconds(5)) }
    }

    @Test("where no sentences are offered the numbers are taken, each moment once")
    @ServiceActor
    func raw() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(capabilities: 3)
        modem.tell(2, latitude: 10.5, longitude: 20, time: "120000.00")

        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }
        try await bench.readAgain(modem)
        modem.tell(2, latitude: 10.5, longitude: 20, time: "120002.00")
        try await bench.readAgain(modem)

        #expect(bench.fixes.count == 2)
        #expect(bench.fixes.first?.coordinate == Coordinate(latitude: 10.5, longitude: 20))
        #expect(bench.fixes.first?.horizontalAccuracy == 50)
        #expect(modem.setups.map(\.sources) == [3])
    }

    @Test("a receiver that says the same for thirty seconds has lost its position, and lives again with a new one")
    @ServiceActor
    func watchdog() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.tell(nmea: gga("120000"))
        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }

        for _ in 0..<30 { try await bench.readAgain(modem) }
        #expect(bench.reports.all.last == .lost(source: "modem-gps"))
        modem.tell(nmea: gga("120031"))
        try await bench.readAgain(modem)

        #expect(bench.fixes.count == 2)
    }

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

    @Test("a modem that is not enabled, locked or without a SIM is used if it may be, and is left as it is")
    @ServiceActor
    func notEnabled() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(state: 2)
        modem.tell(nmea: gga("120000"))

        bench.source.run(for: .exact)
        await until { bench.fixes.count == 1 }

        #expect(modem.misuse == 0)
    }

    @Test("a modem without a receiver is none")
    @ServiceActor
    func noReceiver() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(capabilities: 25)

        bench.source.run(for: .exact)
        try await bench.modems.settle()

        #expect(bench.source.availableLevel == .none)
        #expect(modem.setups.isEmpty)
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

    @Test("clients that come and go toggle nothing: one switch-on, and one switch-off after the last")
    @ServiceActor
    func notToggled() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(capabilities: 23, enabled: 17)
        let clock = bench.clock
        let positioner = Positioner(sources: [bench.source], clock: clock)
        positioner.demand = .exact
        await until { modem.enabled == 21 }

        for _ in 0..<50 {
            positioner.demand = nil
            await clock.advance(by: .seconds(7))
            try await bench.modems.settle()
            positioner.demand = Demand(level: .exact, minimumInterval: 1)
            await clock.advance(by: .seconds(5))
            try await bench.modems.settle()
        }
        positioner.demand = nil
        await clock.advance(by: .seconds(14))
        #expect(modem.setups.count == 1)
        await clock.advance(by: .seconds(1))
        await until { modem.enabled == 17 }

        #expect(modem.setups.count == 2)
    }
}
