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

    private typealias Bench = ModemGNSSBench

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
