import EventLoop
import Geolocation
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// A lookup process that fails, as those see it whose requests it carries.
@Suite(.timeLimit(.minutes(1))) struct TransportRestTests {
    init() { EventLoop.startThread() }

    @Test("a transport that fails is waited for as long as it rests, and no provider is blamed for it")
    @ServiceActor
    func blameless() async {
        let bench = LookupBench.pair()

        for wait in [2, 4, 8] {
            let end = bench.clock.now + .seconds(wait)
            bench.transport.fail(for: .seconds(wait), at: bench.clock)
            #expect(await bench.ask().retryAt == end)
            await bench.clock.advance(by: .seconds(wait))
        }
        #expect(bench.transport.hosts == ["first.example", "first.example", "first.example"])
        bench.transport.rest = nil
        bench.transport.answer = { _ in .failed(reason: "timed out") }

        // The wait after a first failure.
        #expect(await bench.ask().retryAt == bench.clock.now + .seconds(5))
    }

    @Test("while the transport rests nobody is asked, and whoever rests for longer is not promised earlier")
    @ServiceActor
    func resting() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .status(403) }
        let end = bench.clock.now + .seconds(300)
        #expect(await bench.ask().retryAt == end)

        bench.transport.rest = bench.clock.now + .seconds(1)
        #expect(await bench.ask().retryAt == end)
        bench.transport.rest = end + .seconds(1)
        #expect(await bench.ask().retryAt == end + .seconds(1))

        #expect(bench.transport.requests.count == 1)
    }

    @Test("an answer that is remembered is given while the transport rests")
    @ServiceActor
    func remembered() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .place() }
        let found = await bench.ask()
        await bench.clock.advance(by: .seconds(301))

        bench.transport.fail(for: .seconds(300), at: bench.clock)

        #expect(await bench.ask() == found)
    }

    @Test("a lookup process rests after a failure, and no longer than that")
    @ServiceActor
    func process() async {
        let clock = ManualClock()
        let lookup = LookupProcess(socket: nil, program: nil, clock: clock)
        #expect(lookup.rest == nil)

        _ = await lookup.send(LookupRequest(url: "https://a.test/", userAgent: "a", body: []))

        #expect(lookup.rest == clock.now + .seconds(1))
        await clock.advance(by: .seconds(1))
        #expect(lookup.rest == nil)
    }

    @Test("as the process is ended nobody is blamed for what was open, and nobody else is asked")
    @ServiceActor
    func ended() async throws {
        let clock = ManualClock()
        let server = try LoopbackServer()
        let lookup = LookupProcess(socket: server.address.description, program: nil, clock: clock)
        let chain = ProviderChain(
            providers: [LookupBench.first, LookupBench.second].compactMap { LookupProvider($0) }, transport: lookup,
            network: ScriptedNetwork(), userAgent: "test/1", clock: clock)
        let task = ServiceActor.task { await chain.locate(.home) }
        let peer = try await server.nextPeer()
        #expect(await peer.nextLine() != nil)

        lookup.end()

        #expect(await task.value.retryAt == lookup.rest && lookup.rest != nil)
        #expect(await peer.nextLine() == nil)
        #expect(server.accepted == 1 && clock.pendingTimers == 0)
    }

    @Test("the process is kept for a request that nobody waits for any more, and for who asks the same")
    @ServiceActor
    func kept() async throws {
        let clock = ManualClock()
        let server = try LoopbackServer()
        let lookup = LookupProcess(socket: server.address.description, program: nil, clock: clock)
        let chain = ProviderChain(
            providers: [LookupProvider(LookupBench.first)!], transport: lookup, network: ScriptedNetwork(),
            userAgent: "test/1", clock: clock)
        let first = ServiceActor.task { await chain.locate(.home) }
        let peer = try await server.nextPeer()
        let line = try #require(await peer.nextLine())

        first.cancel()
        #expect(await first.value.place == nil)
        let next = ServiceActor.task { await chain.locate(.home) }
        await clock.settle()
        let id = try RequestLine(reading: Array(line.utf8)).id
        peer.send(try AnswerLine(id: id, outcome: .place()).text())

        #expect(await next.value.place != nil)
        #expect(server.accepted == 1)
    }
}

extension ScriptedTransport {
    /// Fails with the next request, and rests from then on.
    func fail(for time: Duration, at clock: ManualClock) {
        rest = nil
        answer = { [weak self] _ in
            let end = clock.now + time
            self?.rest = end
            return .failed(reason: "the lookup process has ended")
        }
    }
}
