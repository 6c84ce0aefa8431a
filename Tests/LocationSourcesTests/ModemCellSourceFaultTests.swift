import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

/// Lookups and modems that fail, hang, flood or go.
@Suite(.timeLimit(.minutes(1))) struct ModemCellSourceFaultTests {
    init() { EventLoop.startThread() }

    private typealias Bench = ModemCellBench

    @Test("who cannot be asked now is asked when he said, or when it is worth while, and the level says so meanwhile")
    @ServiceActor
    func unavailable() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        bench.lookup.answer = { _ in .unavailable(retryAt: .seconds(1020)) }
        bench.run()
        await until { bench.source.availableLevel == .none }

        await bench.clock.advance(by: .seconds(19))
        #expect(bench.lookup.queries.count == 1)
        await bench.clock.advance(by: .seconds(1))
        await until { bench.lookup.queries.count == 2 }
        bench.lookup.answer = { _ in .found(.somewhere(at: .zero)) }
        bench.lookup.encourage()
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 1 }

        #expect(bench.source.availableLevel == .neighborhood)
    }

    @Test("a chain that is tired for ever is not asked more than every five seconds, whatever it says")
    @ServiceActor
    func spin() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        bench.lookup.answer = { [weak bench] _ in
            bench?.lookup.encourage()
            return .unavailable(retryAt: .zero)
        }
        bench.run()
        await until { bench.lookup.queries.count == 1 }

        for _ in 0..<100 { bench.lookup.encourage() }
        await bench.clock.advance(by: .seconds(4))

        #expect(bench.lookup.queries.count == 1)
    }

    @Test("without a way to any provider there are no towers to be had, and there are as soon as there is one")
    @ServiceActor
    func unreachable() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        bench.lookup.isReachable = false
        #expect(bench.source.availableLevel == .none)
        bench.run()
        try await bench.modems.settle()
        #expect(bench.lookup.queries.isEmpty)

        bench.lookup.isReachable = true
        await until { bench.fixes.count == 1 }

        #expect(bench.source.availableLevel == .neighborhood)
    }

    @Test("what cannot be a cell is not sent, and is none to be had")
    @ServiceActor
    func impossible() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.tell(cell: "262,02,FFFE,0,0")

        bench.run()
        await until { bench.source.availableLevel == .none }
        modem.tell(cell: Bench.oneCell)
        try await bench.lookAgain(modem)
        await until { bench.fixes.count == 1 }

        #expect(bench.lookup.queries.count == 1)
    }

    @Test("a modem that refuses to be switched on or read gives no cells until it does, which is seen within a minute")
    @ServiceActor
    func refused() async throws {
        let bench = try await Bench()
        let modem = await bench.plug(enabled: 0)
        modem.setupBehaviour.refusal = FakeModem.unauthorized
        bench.run()
        await until { bench.source.availableLevel == .none }

        modem.setupBehaviour.refusal = nil
        modem.readBehaviour.refusal = FakeModem.unauthorized
        await bench.clock.advance(by: .seconds(60))
        await until { modem.reads == 1 }
        modem.readBehaviour.refusal = nil
        try await bench.modems.settle()
        #expect(bench.source.availableLevel == .none)
        await bench.clock.advance(by: .seconds(60))
        await until { bench.fixes.count == 1 }

        #expect(bench.source.availableLevel == .neighborhood)
    }

    @Test("a modem that hangs is read again, and the others are not held up for ever")
    @ServiceActor
    func hangs() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.readBehaviour.hang()
        await bench.plug().tell(cell: Bench.anotherCell)
        bench.run()
        await until { modem.reads == 1 }

        await bench.clock.advance(by: .seconds(10))
        await until { bench.fixes.count == 1 }
        modem.readBehaviour.release()
        await bench.clock.advance(by: .seconds(20))
        await until { bench.lookup.queries.count == 2 }

        #expect(bench.lookup.queries.map(\.cells.count) == [1, 2])
    }

    @Test("who stops and starts while a modem hangs gets what is seen afterwards")
    @ServiceActor
    func overtaken() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        modem.readBehaviour.hang()
        bench.run()
        await until { modem.reads == 1 }

        bench.source.run(for: nil)
        bench.run()
        modem.tell(cell: Bench.anotherCell)
        modem.readBehaviour.release()
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 1 }

        #expect(bench.lookup.queries.compactMap(\.cells.first?.cellID) == [0x1A2B3D])
    }

    @Test("modems that go take the fix with them, and one that comes back is used within five seconds")
    @ServiceActor
    func vanishes() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        bench.run()
        await until { bench.fixes.count == 1 }

        bench.modems.manager.unplug(modem)
        await until { bench.reports.all.last == .availabilityChanged }
        #expect(bench.reports.all.contains(.lost(source: "cell")) && bench.source.availableLevel == .none)
        await bench.plug().tell(cell: Bench.anotherCell)
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 2 }
    }

    @Test("a flood of signs is looked at every five seconds, and nobody is asked because of it")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        bench.run()
        await until { bench.fixes.count == 1 }

        for _ in 0..<2000 { modem.giveSign() }
        try await bench.modems.settle()
        #expect(modem.reads == 1)
        await bench.clock.advance(by: .seconds(5))
        try await bench.modems.settle()

        #expect(modem.reads == 2 && bench.lookup.queries.count == 1)
    }
}
