import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// What a change of the network means for the place of the address.
@Suite(.timeLimit(.minutes(1))) struct IPSourceNetworkTests {
    init() { EventLoop.startThread() }

    private typealias Bench = IPSourceBench

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
        try #require(sinks.count == 2)
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
        try #require(bench.reports.all.count == 3)
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
