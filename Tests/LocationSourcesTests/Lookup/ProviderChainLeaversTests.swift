import EventLoop
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// Those who ask and do not stay for the answer.
@Suite(.timeLimit(.minutes(1))) struct ProviderChainLeaversTests {
    init() { EventLoop.startThread() }

    /// Two providers that are asked and say nothing until the test does.
    @ServiceActor
    private static func heldBench() -> LookupBench {
        let bench = LookupBench.pair()
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }
        return bench
    }

    /// Asks, and leaves once the request is open.
    @ServiceActor
    private static func askAndLeave(_ bench: LookupBench, _ query: LookupQuery = .home) async {
        let task = ServiceActor.task { await bench.ask(query) }
        await until { bench.transport.open == 1 }
        await bench.clock.settle()
        task.cancel()
        #expect(await task.value == .unavailable(retryAt: bench.clock.now))
        await bench.clock.settle()
    }

    @Test("who gives up comes back at once, and the request runs to its end without him")
    @ServiceActor
    func leaving() async {
        let bench = Self.heldBench()
        let other = ServiceActor.task { await bench.ask() }

        await Self.askAndLeave(bench)
        other.cancel()
        #expect(await other.value == .unavailable(retryAt: bench.clock.now))
        await bench.clock.settle()

        #expect(bench.transport.open == 1 && bench.transport.cancelled == 0)
        #expect(bench.transport.hosts == ["first.example"])
    }

    @Test("however often somebody comes and goes, it is one request, and its answer is remembered")
    @ServiceActor
    func comingAndGoing() async {
        let bench = Self.heldBench()

        for _ in 0..<92 {
            await Self.askAndLeave(bench)
            await bench.clock.advance(by: .milliseconds(100))
        }
        bench.transport.release(.place())
        await until { bench.transport.open == 0 }

        #expect(await bench.ask().place?.measuredAt == bench.clock.now)
        #expect(bench.transport.requests.count == 1)
    }

    @Test("a provider that hangs is found out though nobody stays for it, and the next one asked then")
    @ServiceActor
    func hanging() async {
        let bench = Self.heldBench()
        await Self.askAndLeave(bench)

        bench.transport.release(.failed(reason: "timed out"))
        await until { bench.transport.open == 0 }
        await bench.clock.settle()
        #expect(bench.transport.hosts == ["first.example"])
        bench.transport.answer = { _ in .place() }

        #expect(await bench.ask().place?.provider == "second.example")
        #expect(bench.transport.hosts == ["first.example", "second.example"])
    }

    @Test("a provider that does not know is not asked the same again, though nobody stayed for it")
    @ServiceActor
    func unknown() async {
        let bench = Self.heldBench()
        await Self.askAndLeave(bench)

        bench.transport.release(.notFound)
        await until { bench.transport.open == 0 }
        bench.transport.answer = { _ in .place() }

        #expect(await bench.ask().place?.provider == "second.example")
    }

    @Test("who asks the same meanwhile gets the answer first, and then who waited for his turn")
    @ServiceActor
    func joining() async {
        let bench = Self.heldBench()
        await Self.askAndLeave(bench)
        let other = ServiceActor.task { await bench.ask(.work) }
        await bench.clock.settle()
        let same = ServiceActor.task { await bench.ask() }
        await bench.clock.settle()

        bench.transport.release(.place(48, 11))
        #expect(await same.value.place?.coordinate.latitude == 48)
        await until { bench.transport.open == 1 }
        bench.transport.release(.place(52, 13))

        #expect(await other.value.place?.coordinate.latitude == 52)
        #expect(bench.transport.requests.count == 2 && bench.transport.mostOpen == 1)
    }

    @Test("who leaves while he waits for his turn is not asked for")
    @ServiceActor
    func leavingTheQueue() async {
        let bench = Self.heldBench()
        let first = ServiceActor.task { await bench.ask() }
        await until { bench.transport.open == 1 }
        let queued = [LookupQuery.work, LookupQuery()].map { query in ServiceActor.task { await bench.ask(query) } }
        await bench.clock.settle()

        queued[0].cancel()
        #expect(await queued[0].value.place == nil)
        bench.transport.release(.place())
        #expect(await first.value.place != nil)
        await until { bench.transport.open == 1 }

        #expect(bench.transport.requests.count == 2 && bench.transport.requests.last?.body == Array("{}".utf8))
        bench.transport.release(.place())
        #expect(await queued[1].value.place?.isByAddress == true)
    }

    @Test("what comes late for somebody who has left counts for nothing once all is forgotten")
    @ServiceActor
    func forgotten() async {
        let bench = Self.heldBench()
        for late in [LookupOutcome.place(), .notFound] {
            await Self.askAndLeave(bench)
            let count = bench.transport.requests.count

            bench.chain.forget()
            let task = ServiceActor.task { await bench.ask() }
            await bench.clock.settle()
            bench.transport.release(late)
            await until { bench.transport.requests.count == count + 1 }
            bench.transport.release(.place(48, 11))

            let place = await task.value.place
            #expect(place?.coordinate.latitude == 48 && place?.provider == "first.example")
            bench.chain.forget()
        }
    }

    @Test(
        "an address that was asked about over another network, or before a tunnel, is not remembered",
        arguments: [true, false])
    @ServiceActor
    func networkChange(isTunnel: Bool) async {
        let bench = Self.heldBench()
        let state = bench.network.state
        await Self.askAndLeave(bench, LookupQuery())

        if isTunnel { bench.network.state.isTunnelled = true } else { bench.network.state.attachment += 1 }
        bench.transport.release(.place(accuracy: 25_000))
        await until { bench.transport.open == 0 }
        bench.network.state = state
        bench.transport.answer = { _ in .place(48, 11, accuracy: 25_000) }

        #expect(await bench.ask(LookupQuery()).place?.coordinate.latitude == 48)
    }

    @Test("with the chain its requests end, and nothing of either is left")
    @ServiceActor
    func letGo() async {
        let transport = ScriptedTransport()
        transport.answer = { [unowned transport] _ in await transport.hold() }
        var chain: ProviderChain? = ProviderChain(
            providers: [LookupProvider(LookupBench.first)!], transport: transport, network: ScriptedNetwork(),
            userAgent: "test/1", clock: ManualClock())
        weak let left = chain
        let tasks = [LookupQuery.home, .work].map { query in
            ServiceActor.task { [chain] in await chain?.locate(query) }
        }
        await until { transport.open == 1 }
        tasks.forEach { $0.cancel() }
        for task in tasks { #expect(await task.value?.place == nil) }
        #expect(transport.open == 1)

        chain = nil
        await until { transport.open == 0 }

        #expect(left == nil && transport.cancelled == 1 && transport.requests.count == 1)
    }
}
