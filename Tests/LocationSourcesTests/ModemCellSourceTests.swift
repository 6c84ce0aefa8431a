import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ModemCellSourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let modems: ModemBench
        let lookup = ScriptedLookup()
        let source: CellSource
        let reports: Reports

        init(usesTowers: Bool = true, usesBaseStations: Bool = true) async throws {
            modems = try await ModemBench()
            source = CellSource(
                directory: modems.directory, lookup: usesTowers ? lookup : nil, usesBaseStations: usesBaseStations,
                clock: modems.clock)
            reports = Reports(of: source)
            lookup.answer = { [clock] _ in .found(.somewhere(at: clock.now)) }
            source.discover()
        }

        var clock: ManualClock { modems.clock }

        /// A modem in the first cell, as ModemManager has them: cells are told without being asked for.
        func plug(capabilities: UInt32 = 7, enabled: UInt32 = 1) async -> FakeModem {
            let modem = modems.manager.plug(capabilities: capabilities, enabled: enabled)
            modem.tell(cell: oneCell)
            await until { self.modems.directory.modems.contains { $0.path == modem.path } }
            return modem
        }

        func run() { source.run(for: Demand(level: .city, minimumInterval: 0)) }

        /// Lets the source look once more, in steps that leave its calls the time to be answered.
        func lookAgain(_ modem: FakeModem) async throws {
            try await modems.settle()
            let reads = modem.reads
            for _ in 0..<6 {
                await clock.advance(by: .seconds(5))
                try await modems.settle()
            }
            #expect(modem.reads > reads)
        }

        var fixes: [Fix] { reports.all.compactMap(\.fix) }
    }

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

        modem.tell(cell: anotherCell)
        modem.giveSign()
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { bench.fixes.count == 2 }
        modem.tell(cell: oneCell)
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
        modem.tell(cell: anotherCell)
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
        modem.tell(cell: oneCell)
        try await bench.lookAgain(modem)
        await until { bench.fixes.count == 1 }

        #expect(bench.lookup.queries.count == 1)
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
        await bench.plug().tell(cell: anotherCell)

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
        await bench.plug().tell(cell: anotherCell)
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
        modem.tell(cell: anotherCell)
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
        await bench.plug().tell(cell: anotherCell)
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

private let oneCell = "262,02,FFFE,1A2B3C,3E8"
private let anotherCell = "262,02,FFFE,1A2B3D,3E8"

extension FoundPlace {
    fileprivate static func somewhere(at moment: Duration, isByAddress: Bool = false) -> FoundPlace {
        FoundPlace(
            coordinate: Coordinate(latitude: 52.5, longitude: 13.4)!, accuracy: 1400, measuredAt: moment,
            isByAddress: isByAddress, provider: "test")
    }
}
