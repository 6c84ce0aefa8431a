import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct IPSourceTests {
    init() { EventLoop.startThread() }

    private typealias Bench = IPSourceBench

    @Test("the place of the address is a fix of a town, by nothing but the address")
    @ServiceActor
    func fix() async throws {
        let bench = Bench()
        bench.answer(age: .seconds(60))
        #expect(bench.source.availableLevel == .city)

        bench.run()
        let fix = try await bench.reports.nextFix()

        #expect(bench.lookup.queries == [LookupQuery()])
        #expect(fix.kind == .ip && fix.source == "ip" && fix.coordinate.latitude == 52.5)
        #expect(fix.horizontalAccuracy == 25_000 && fix.speed == nil && fix.altitude == nil)
        #expect(fix.measuredAt == bench.clock.now - .seconds(60))
        #expect(fix.timestamp == Timestamp(microseconds: bench.clock.wallTime - 60_000_000))
    }

    @Test(
        "no radius is finer than ten kilometres, and the administrator's counts before the provider's",
        arguments: [(nil, 1, 10_000), (nil, 600_000, 600_000), (50_000, 1, 50_000), (1000, 25_000, 10_000)]
            as [(Double?, Double, Double)])
    @ServiceActor
    func accuracy(configured: Double?, answered: Double, expected: Double) async throws {
        let bench = Bench(accuracy: configured)
        bench.answer(accuracy: answered)

        bench.run()

        #expect(try await bench.reports.nextFix().horizontalAccuracy == expected)
    }

    @Test("while it runs it asks each hour, and not when its demand changes")
    @ServiceActor
    func hourly() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()

        bench.source.run(for: .exact)
        await bench.clock.advance(by: .seconds(3599))
        #expect(bench.lookup.queries.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(try await bench.reports.nextFix().measuredAt == bench.clock.now)
    }

    @Test("nothing is asked before it runs and after it has stopped, and a question that is open ends")
    @ServiceActor
    func stopped() async throws {
        let bench = Bench()
        var ended = 0
        let gate = ScriptedTransport()
        bench.lookup.answer = { _ in
            _ = await gate.hold()
            ended += 1
            return .unknown
        }
        await bench.clock.settle()
        #expect(bench.lookup.queries.isEmpty)

        bench.run()
        await until { bench.lookup.queries.count == 1 }
        bench.source.run(for: nil)
        await until { ended == 1 }
        bench.network.state.attachment += 1
        await bench.clock.advance(by: .seconds(7200))

        #expect(bench.lookup.queries.count == 1 && bench.reports.all.isEmpty && bench.clock.pendingTimers == 0)
    }

    // MARK: Failures

    @Test("while it runs and nobody answers nothing can be had, until somebody does (C01)")
    @ServiceActor
    func failure() async throws {
        let bench = Bench()
        bench.fail(for: .seconds(30))

        bench.run()
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .none)
        bench.answer()
        await bench.clock.advance(by: .seconds(29))
        #expect(bench.lookup.queries.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .city)
        #expect(try await bench.reports.nextFix().coordinate.latitude == 52.5)
    }

    @Test("a question that stays open counts as a failure after eight seconds, and its answer still comes")
    @ServiceActor
    func slow() async throws {
        let bench = Bench()
        let (stream, sink) = AsyncStream.makeStream(of: LookupResult.self)
        bench.lookup.answer = { _ in
            for await result in stream { return result }
            return .unknown
        }
        bench.run()
        await until { bench.lookup.queries.count == 1 }

        await bench.clock.advance(by: .seconds(8))
        #expect(bench.reports.all == [.availabilityChanged] && bench.source.availableLevel == .none)
        bench.answer()
        sink.yield(await bench.lookup.locate(LookupQuery()))

        await until { bench.reports.all.count == 3 }
        try #require(bench.reports.all.count == 3)
        #expect(bench.reports.all[1] == .availabilityChanged && bench.reports.all[2].fix != nil)
    }

    @Test(
        "a question that was open for too long is no failure once it is given up, and whoever comes next gets its answer"
    )
    @ServiceActor
    func slowAndLeft() async throws {
        let bench = LookupBench.pair()
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }
        let source = IPSource(lookup: bench.chain, network: bench.network, clock: bench.clock)
        let reports = Reports(of: source)
        source.discover()
        source.run(for: .exact)
        await until { bench.transport.open == 1 }
        await bench.clock.advance(by: .seconds(8))
        #expect(source.availableLevel == .none)

        source.run(for: nil)
        #expect(source.availableLevel == .city)
        await bench.clock.advance(by: .seconds(4))
        #expect(reports.all == [.availabilityChanged, .availabilityChanged] && bench.clock.pendingTimers == 0)
        source.run(for: .exact)
        await bench.clock.advance(by: .seconds(1))
        #expect(source.availableLevel == .city)
        bench.transport.release(.place(accuracy: 25_000))

        await until { reports.all.count == 3 }
        #expect(reports.all.last?.fix?.coordinate.latitude == 52.5 && bench.transport.requests.count == 1)
    }

    @Test("a place that nobody knows is asked for again in an hour")
    @ServiceActor
    func unknown() async throws {
        let bench = Bench()
        bench.run()
        #expect(try await bench.reports.next() == .availabilityChanged)

        await bench.clock.advance(by: .seconds(3599))
        #expect(bench.lookup.queries.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.lookup.queries.count == 2)
    }

    @Test("it asks at once where asking has become worth while, but not where it has its answer")
    @ServiceActor
    func encouraged() async throws {
        let bench = Bench()
        bench.fail(for: .seconds(7200))
        bench.run()
        _ = try await bench.reports.next()
        bench.answer()

        bench.lookup.encourage()
        #expect(try await bench.reports.next() == .availabilityChanged)
        _ = try await bench.reports.nextFix()
        bench.lookup.encourage()
        await bench.clock.settle()

        #expect(bench.lookup.queries.count == 2)
    }

    @Test("once it is stopped a failure is forgotten, with the time of asking again and in five minutes at most")
    @ServiceActor
    func forgotten() async throws {
        let bench = Bench()
        for (wait, forgotten) in [(5, 5), (7200, 300)] {
            bench.fail(for: .seconds(wait))
            bench.run()
            #expect(try await bench.reports.next() == .availabilityChanged)

            bench.source.run(for: nil)
            await bench.clock.advance(by: .seconds(forgotten) - .milliseconds(1))
            #expect(bench.source.availableLevel == .none)
            await bench.clock.advance(by: .milliseconds(1))

            #expect(try await bench.reports.next() == .availabilityChanged)
            #expect(bench.source.availableLevel == .city)
        }
        #expect(bench.lookup.queries.count == 2 && bench.clock.pendingTimers == 0)
    }

    @Test("where it fails at once and another source takes over, the two do not take turns")
    @ServiceActor
    func takingTurns() async throws {
        let bench = Bench()
        bench.fail(for: .seconds(7200))
        let other = ScriptedSource("wifi", kind: .wifi, level: .street, clock: bench.clock)
        let positioner = Positioner(sources: [other, bench.source], clock: bench.clock)

        positioner.demand = Demand(level: .city, minimumInterval: 0)
        await other.demanded()
        await bench.clock.advance(by: .seconds(299))

        #expect(other.isRunning && other.starts == 1 && bench.lookup.queries.count == 1)
        await bench.clock.advance(by: .seconds(1))
        await until { bench.lookup.queries.count == 2 }
        await until { other.isRunning }
    }

    @Test("where the answer takes too long and another source takes over, that one is left in peace")
    @ServiceActor
    func slowTurns() async throws {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }
        let source = IPSource(lookup: bench.chain, network: bench.network, clock: bench.clock)
        let other = ScriptedSource("wifi", kind: .wifi, level: .street, clock: bench.clock)
        let positioner = Positioner(sources: [other, source], clock: bench.clock)
        positioner.demand = Demand(level: .city, minimumInterval: 0)
        await until { bench.transport.open == 1 }

        await bench.clock.advance(by: .seconds(8))
        #expect(other.isRunning)
        await bench.clock.advance(by: .seconds(2))
        bench.transport.release(.failed(reason: "timed out"))
        await bench.clock.advance(by: .seconds(2) - .milliseconds(1))

        #expect(other.isRunning && other.starts == 1 && bench.transport.requests.count == 1)
    }
}
