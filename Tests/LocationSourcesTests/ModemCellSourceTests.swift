import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ModemCellSourceTests {
    init() { EventLoop.startThread() }

    private typealias Bench = ModemCellBench

    @Test("the cell is looked up once while it stays the same, and the fix is of the moment at which the cell was seen")
    @ServiceActor
    func once() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        #expect(bench.source.availableLevel == .neighborhood)
        #expect(modem.reads == 0 && bench.clock.pendingTimers == 0)
        bench.lookup.answer = { _ in .found(.somewhere(at: .zero)) }

        bench.run()
        await until { bench.fixes.count == 1 }
        for _ in 0..<5 { try await bench.lookAgain(modem) }

        let tower = CellTower(radio: .lte, countryCode: 262, networkCode: 2, areaCode: 1000, cellID: 0x1A2B3C)
        #expect(bench.lookup.queries == [LookupQuery(cells: [tower])])
        #expect(bench.fixes.count == 1)
        #expect(bench.fixes.first?.kind == .cell && bench.fixes.first?.source == "cell")
        #expect(bench.fixes.first?.measuredAt == .seconds(1000) && bench.fixes.first?.horizontalAccuracy == 1400)
        #expect(modem.setups.isEmpty && modem.misuse == 0)
    }

    @Test("another cell is noticed at a sign within five seconds, and without one within thirty")
    @ServiceActor
    func change() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        bench.run()
        await until { bench.fixes.count == 1 }

        modem.tell(cell: Bench.anotherCell)
        modem.giveSign()
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 2 }
        modem.tell(cell: Bench.oneCell)
        try await bench.lookAgain(modem)
        await until { bench.fixes.count == 3 }

        #expect(bench.lookup.queries.compactMap(\.cells.first?.cellID) == [0x1A2B3C, 0x1A2B3D, 0x1A2B3C])
    }

    @Test("an answer is renewed after ten minutes")
    @ServiceActor
    func freshness() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        bench.run()
        await until { bench.fixes.count == 1 }

        for _ in 0..<20 { try await bench.lookAgain(modem) }
        await until { bench.fixes.count == 2 }

        #expect(bench.lookup.queries.count == 2)
        #expect(bench.fixes.last?.measuredAt == .seconds(1600))
    }

    @Test("what was found lately is told again to who comes next, without a question")
    @ServiceActor
    func remembered() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        bench.run()
        await until { bench.fixes.count == 1 }

        bench.source.run(for: nil)
        #expect(bench.clock.pendingTimers == 0)
        await bench.clock.advance(by: .seconds(60))
        bench.run()
        await until { bench.fixes.count == 2 }

        #expect(bench.lookup.queries.count == 1)
        #expect(bench.fixes.last?.measuredAt == .seconds(1060))
    }

    @Test("a cell that nobody knows is not asked for again until there is another one, nor when clients come and go")
    @ServiceActor
    func unknown() async throws {
        let bench = try await Bench()
        let modem = await bench.plug()
        bench.lookup.answer = { _ in .unknown }
        bench.run()
        await until { bench.source.availableLevel == .none }

        for _ in 0..<30 { try await bench.lookAgain(modem) }
        bench.lookup.encourage()
        bench.source.run(for: nil)
        #expect(bench.source.availableLevel == .neighborhood)
        bench.run()
        try await bench.lookAgain(modem)
        #expect(bench.lookup.queries.count == 1 && bench.source.availableLevel == .none)
        bench.lookup.answer = { _ in .found(.somewhere(at: .zero)) }
        modem.tell(cell: Bench.anotherCell)
        try await bench.lookAgain(modem)
        await until { bench.fixes.count == 1 }

        #expect(bench.source.availableLevel == .neighborhood)
    }

    @Test("an answer by the machine's address says nothing of the cell")
    @ServiceActor
    func byAddress() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        bench.lookup.answer = { _ in .found(.somewhere(at: .zero, isByAddress: true)) }

        bench.run()
        await until { bench.source.availableLevel == .none }

        #expect(bench.fixes.isEmpty)
    }

    @Test("a stop ends the question, and its answer counts for nothing, nor for who starts again")
    @ServiceActor
    func stop() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        let gate = FakeBehaviour()
        gate.hang()
        bench.lookup.answer = { _ in
            try? await gate.take()
            return .unavailable(retryAt: .seconds(9000))
        }
        bench.run()
        await until { bench.lookup.queries.count == 1 }

        bench.source.run(for: nil)
        gate.release()
        await bench.clock.settle()
        bench.lookup.answer = { _ in .found(.somewhere(at: .zero)) }
        bench.run()
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 1 }

        #expect(bench.lookup.queries.count == 2)
    }

    @Test("the cells of all modems go into one question")
    @ServiceActor
    func several() async throws {
        let bench = try await Bench()
        _ = await bench.plug()
        await bench.plug().tell(cell: Bench.anotherCell)

        bench.run()
        await until { bench.fixes.count == 1 }

        #expect(bench.lookup.queries.map(\.cells.count) == [2])
    }

    @Test("a CDMA base station tells its place itself, and nobody is asked")
    @ServiceActor
    func baseStation() async throws {
        let bench = try await Bench()
        bench.lookup.isReachable = false
        let modem = await bench.plug(capabilities: 8, enabled: 0)
        modem.tell(8, latitude: 40, longitude: -100)
        #expect(bench.source.availableLevel == .neighborhood)

        bench.run()
        await until { bench.fixes.count == 1 }
        try await bench.lookAgain(modem)
        modem.tell(8, latitude: 40.1, longitude: -100)
        try await bench.lookAgain(modem)
        await until { bench.fixes.count == 2 }
        bench.source.run(for: nil)
        await until { modem.enabled == 0 }

        #expect(bench.fixes.first?.horizontalAccuracy == 5000 && bench.fixes.first?.kind == .cell)
        #expect(bench.lookup.queries.isEmpty)
        #expect(modem.setups.map(\.sources) == [8, 0])
    }

    @Test("each kind of cell can be left out")
    @ServiceActor
    func switches() async throws {
        let bench = try await Bench(usesTowers: false)
        _ = await bench.plug()
        #expect(bench.source.availableLevel == .none)
        let other = try await Bench(usesBaseStations: false)
        _ = await other.plug(capabilities: 8)

        #expect(other.source.availableLevel == .none)
    }
}
