import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

/// What the chain does without a network, and what it remembers.
@Suite(.timeLimit(.minutes(1))) struct ProviderChainMemoryTests {
    init() { EventLoop.startThread() }

    // MARK: The network

    @Test("offline nothing is sent but to this machine itself")
    @ServiceActor
    func offline() async {
        let far = LookupBench(LookupBench.first, isOnline: false)
        let near = LookupBench(LookupBench.first, "http://127.0.0.1:8123/v1/geolocate", isOnline: false)
        near.transport.answer = { _ in .place() }

        #expect(!far.chain.isReachable && near.chain.isReachable)
        #expect(await far.ask().retryAt.map { $0 > far.clock.now } == true)
        #expect(await near.ask().place?.provider == "127.0.0.1")
        #expect(far.transport.requests.isEmpty && near.transport.hosts == ["127.0.0.1"])
    }

    @Test("without providers there is nothing to reach and nothing to find")
    @ServiceActor
    func empty() async {
        let bench = LookupBench()

        #expect(!bench.chain.isReachable)
        #expect(await bench.ask().retryAt != nil)
    }

    @Test("observers hear when providers come within reach and go out of it")
    @ServiceActor
    func reachability() {
        let bench = LookupBench(LookupBench.first)
        var heard: [Bool] = []
        let observation = bench.chain.observe { [unowned chain = bench.chain] in heard.append(chain.isReachable) }

        bench.network.state.isOnline = false
        bench.network.state.attachment = 7
        bench.network.state.isOnline = true

        withExtendedLifetime(observation) { #expect(heard == [false, true]) }
    }

    @Test("a change of the network forgives what it may have caused, at once, and observers hear of it")
    @ServiceActor
    func networkChange() async {
        let bench = LookupBench(LookupBench.first)
        var heard = 0
        let observation = bench.chain.observe { heard += 1 }
        _ = await bench.ask()
        bench.transport.answer = { _ in .status(500) }

        bench.network.state.attachment += 1
        #expect(heard == 1)
        #expect(await bench.ask().retryAt == bench.clock.now + .seconds(5))
        bench.network.state.attachment += 1
        _ = await bench.ask()

        // Who hears it may be elsewhere; this provider is not asked again for that.
        withExtendedLifetime(observation) { #expect(heard == 2) }
        #expect(bench.transport.requests.count == 2)
    }

    // MARK: Memory

    @Test("an answer is given again for five minutes, with its own time")
    @ServiceActor
    func freshAnswer() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { _ in .place() }
        let measuredAt = bench.clock.now

        _ = await bench.ask()
        await bench.clock.advance(by: .seconds(299))
        #expect(await bench.ask().place?.measuredAt == measuredAt)
        #expect(bench.transport.requests.count == 1)
        await bench.clock.advance(by: .seconds(1))

        #expect(await bench.ask().place?.measuredAt == bench.clock.now)
        #expect(bench.transport.requests.count == 2)
    }

    @Test("an older answer is given with its own time where nobody can answer, for two days")
    @ServiceActor
    func oldAnswer() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .place() }
        let measuredAt = bench.clock.now
        _ = await bench.ask()
        bench.network.state.isOnline = false

        await bench.clock.advance(by: .seconds(172_800))
        #expect(await bench.ask().place?.measuredAt == measuredAt)
        await bench.clock.advance(by: .seconds(1))

        #expect(await bench.ask().place == nil)
    }

    @Test("the place of an address is asked for once an hour, and for each way of being connected")
    @ServiceActor
    func byAddress() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .place(accuracy: 25_000) }

        _ = await bench.ask(LookupQuery())
        await bench.clock.advance(by: .seconds(3599))
        _ = await bench.ask(LookupQuery())
        #expect(bench.transport.requests.count == 1)
        bench.network.state.attachment += 1
        _ = await bench.ask(LookupQuery())
        #expect(bench.transport.requests.count == 2)
        await bench.clock.advance(by: .seconds(3600))
        bench.transport.answer = { _ in .status(500) }

        #expect(await bench.ask(LookupQuery()).retryAt == bench.clock.now + .seconds(5))
    }

    @Test("what is forgotten is asked for anew, known or not")
    @ServiceActor
    func forget() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .place() }
        _ = await bench.ask()
        bench.transport.answer = { _ in .notFound }
        _ = await bench.ask(.work)

        bench.chain.forget()
        bench.transport.answer = { _ in .place(48, 11) }

        #expect(await bench.ask().place?.coordinate.latitude == 48)
        #expect(await bench.ask(.work).place?.coordinate.latitude == 48)
    }

    @Test("an answer to a question from before is not remembered")
    @ServiceActor
    func lateAnswer() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }
        let task = ServiceActor.task { await bench.ask() }
        await until { bench.transport.open == 1 }

        bench.chain.forget()
        bench.transport.release(.place())
        #expect(await task.value.place != nil)
        bench.transport.answer = { _ in .place() }
        _ = await bench.ask()

        #expect(bench.transport.requests.count == 2)
    }
}
