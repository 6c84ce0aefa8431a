import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct IPSourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let lookup = ScriptedLookup()
        let network = ScriptedNetwork()
        let source: IPSource
        let reports: Reports

        init(accuracy: Double? = nil) {
            source = IPSource(lookup: lookup, network: network, accuracy: accuracy, clock: clock)
            reports = Reports(of: source)
            source.discover()
        }

        /// What the providers say from now on.
        func answer(_ latitude: Double = 52.5, accuracy: Double = 25_000, age: Duration = .zero) {
            lookup.answer = { [clock] _ in
                .found(
                    FoundPlace(
                        coordinate: Coordinate(latitude: latitude, longitude: 13.4)!, accuracy: accuracy,
                        measuredAt: clock.now - age, isByAddress: true, provider: "example.org"))
            }
        }

        func fail(for wait: Duration = .seconds(5)) {
            lookup.answer = { [clock] _ in .unavailable(retryAt: clock.now + wait) }
        }

        func run() { source.run(for: Demand(level: .city, minimumInterval: 0)) }
    }

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
        #expect(bench.reports.all[1] == .availabilityChanged && bench.reports.all[2].fix != nil)
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

    // MARK: The network

    @Test("with another way of being connected the fix is lost, and the question put anew")
    @ServiceActor
    func attachment() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()
        bench.answer(48)

        bench.network.state.attachment += 1

        #expect(try await bench.reports.next() == .lost(source: "ip"))
        #expect(try await bench.reports.nextFix().coordinate.latitude == 48)
        #expect(bench.lookup.queries.count == 2)
    }

    @Test("a fix is lost with its network even where nobody asks")
    @ServiceActor
    func lostWhileStopped() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()
        bench.source.run(for: nil)

        bench.network.state = NetworkState(isOnline: false, attachment: 1)
        bench.network.state = NetworkState(isOnline: true, attachment: 2)

        #expect(try await bench.reports.next() == .lost(source: "ip"))
        #expect(bench.reports.all.count == 2 && bench.lookup.queries.count == 1)
    }

    @Test("an answer that was asked for over another network is not taken")
    @ServiceActor
    func lateAnswer() async throws {
        let bench = Bench()
        var sinks: [AsyncStream<LookupResult>.Continuation] = []
        bench.lookup.answer = { _ in
            let (stream, sink) = AsyncStream.makeStream(of: LookupResult.self)
            sinks.append(sink)
            for await result in stream { return result }
            return .unavailable(retryAt: .zero)
        }
        bench.run()
        await until { sinks.count == 1 }

        bench.network.state.attachment += 1
        await until { sinks.count == 2 }
        bench.answer(48)
        sinks[0].yield(.unknown)
        sinks[1].yield(await bench.lookup.locate(LookupQuery()))

        #expect(try await bench.reports.nextFix().coordinate.latitude == 48)
        #expect(bench.reports.all.count == 1)
    }

    @Test("a connection that changes all the time makes a request every five seconds, and its last change one too")
    @ServiceActor
    func flapping() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()

        for _ in 0..<100 {
            bench.network.state.attachment += 1
            await bench.clock.advance(by: .milliseconds(100))
        }
        await bench.clock.advance(by: .seconds(5))

        #expect(bench.lookup.queries.count == 1 + 3)
    }

    @Test("behind a tunnel nothing is asked and nothing lost; after it the place is found anew (C09)")
    @ServiceActor
    func tunnel() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()
        bench.answer(-33)

        bench.network.state = NetworkState(isOnline: true, isTunnelled: true, attachment: 1)
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .none)
        bench.lookup.encourage()
        await bench.clock.advance(by: .seconds(7200))
        #expect(bench.lookup.queries.count == 1 && bench.reports.all.count == 2)
        bench.answer(52.6)
        bench.network.state = NetworkState(isOnline: true, isTunnelled: false, attachment: 2)

        #expect(try await bench.reports.next() == .lost(source: "ip"))
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.nextFix().coordinate.latitude == 52.6)
    }

    @Test("a question that is open as a tunnel comes up is dropped")
    @ServiceActor
    func tunnelMeanwhile() async throws {
        let bench = Bench()
        var answers = 0
        let (stream, sink) = AsyncStream.makeStream(of: LookupResult.self)
        bench.lookup.answer = { _ in
            defer { answers += 1 }
            for await result in stream { return result }
            return .unavailable(retryAt: .zero)
        }
        bench.run()
        await until { bench.lookup.queries.count == 1 }

        bench.network.state = NetworkState(isOnline: true, isTunnelled: true, attachment: 1)
        sink.yield(
            .found(
                FoundPlace(
                    coordinate: Coordinate(latitude: -33, longitude: 151)!, accuracy: 25_000,
                    measuredAt: bench.clock.now, isByAddress: true, provider: "example.org")))
        await until { answers == 1 }
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.reports.all == [.availabilityChanged] && bench.lookup.queries.count == 1)
    }

    @Test("out of reach nothing can be had, and the question is put as soon as somebody can be reached (C18)")
    @ServiceActor
    func reach() async throws {
        let bench = Bench()
        bench.answer()
        bench.lookup.isReachable = false
        #expect(bench.source.availableLevel == .none && bench.reports.all == [.availabilityChanged])

        bench.run()
        await bench.clock.advance(by: .seconds(600))
        #expect(bench.lookup.queries.isEmpty)
        bench.lookup.isReachable = true

        await until { bench.reports.all.count == 3 }
        #expect(bench.reports.all[1] == .availabilityChanged && bench.reports.all[2].fix != nil)
    }

    @Test("an hour that is up while nobody can be reached is made good when somebody can")
    @ServiceActor
    func missedHour() async throws {
        let bench = Bench()
        bench.answer()
        bench.run()
        _ = try await bench.reports.nextFix()
        bench.lookup.isReachable = false

        await bench.clock.advance(by: .seconds(3600))
        #expect(bench.lookup.queries.count == 1)
        bench.lookup.isReachable = true

        await until { bench.lookup.queries.count == 2 }
    }
}
