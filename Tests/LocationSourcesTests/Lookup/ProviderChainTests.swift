import EventLoop
import Geolocation
import JSON
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ProviderChainTests {
    init() { EventLoop.startThread() }

    @Test("the first provider's word is taken, and the second one is not asked")
    @ServiceActor
    func first() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { _ in .place(52.5, 13.4, accuracy: 40) }

        let result = await bench.ask()

        #expect(
            result
                == .found(
                    FoundPlace(
                        coordinate: Coordinate(latitude: 52.5, longitude: 13.4)!, accuracy: 40,
                        measuredAt: bench.clock.now, isByAddress: false, provider: "first.example")))
        #expect(bench.transport.requests.count == 1)
        #expect(bench.transport.requests.first?.url == LookupBench.first)
        #expect(bench.transport.requests.first?.userAgent == "Whereabouts/1 (test)")
        #expect(bench.transport.requests.first?.json?["wifiAccessPoints"]?.array?.count == 2)
        #expect(bench.transport.requests.first?.json?["wifiAccessPoints"]?.array?.first?["age"] == 1000)
    }

    @Test(
        "whatever the first provider has, the next one is used at once, and one in trouble is left alone (C02)",
        arguments: [
            .failed(reason: "connection refused"), .status(500), .status(429), .status(503, retryAfter: 60),
            .error(403, "usageLimits", "dailyLimitExceeded"), .status(400), .status(200, "{}"), .status(200, "[]"),
            .place(0, 0), .place(52, 13, accuracy: 0), .place(52, 13, accuracy: -1), .place(52, 13, accuracy: 1e8),
        ] as [LookupOutcome])
    @ServiceActor
    func next(outcome: LookupOutcome) async {
        let bench = LookupBench.pair()
        bench.transport.answer = { $0.url == LookupBench.first ? outcome : .place() }

        let result = await bench.ask()
        let again = await bench.ask(.work)

        #expect(result.place?.provider == "second.example" && again.place?.provider == "second.example")
        #expect(bench.transport.hosts == ["first.example", "second.example", "second.example"])
    }

    @Test("a provider that does not know is healthy, and is not asked the same again")
    @ServiceActor
    func unknown() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { $0.url == LookupBench.first ? .notFound : .failed(reason: "timed out") }

        _ = await bench.ask()
        bench.transport.answer = { $0.url == LookupBench.first ? .notFound : .place() }
        _ = await bench.ask(.work)
        await bench.clock.advance(by: .seconds(6))
        let result = await bench.ask()

        #expect(result.place?.provider == "second.example")
        #expect(
            bench.transport.hosts == ["first.example", "second.example", "first.example", "second.example"])
    }

    @Test("when all that can be asked do not know, asking again is of no use, and nobody is asked")
    @ServiceActor
    func allUnknown() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { $0.url == LookupBench.first ? .notFound : .status(400) }

        let result = await bench.ask()
        await bench.clock.advance(by: .seconds(60))
        let again = await bench.ask()

        #expect(result == .unknown && again == .unknown)
        #expect(bench.transport.requests.count == 2)
    }

    @Test("while one is in trouble that may know, asking again is of use when it may be asked again")
    @ServiceActor
    func retryAt() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { $0.url == LookupBench.first ? .status(429) : .notFound }

        let result = await bench.ask()

        #expect(result == .unavailable(retryAt: bench.clock.now + .seconds(300)))
    }

    @Test("with all in trouble nobody is asked before the first one may be")
    @ServiceActor
    func allInTrouble() async {
        let bench = LookupBench.pair()

        let result = await bench.ask()
        let again = await bench.ask(.work)
        #expect(result.retryAt == bench.clock.now + .seconds(5) && again == result)
        #expect(bench.transport.requests.count == 2)
        bench.transport.answer = { _ in .place() }
        await bench.clock.advance(by: .seconds(5))

        #expect(await bench.ask().place != nil)
        #expect(bench.transport.requests.count == 3)
    }

    @Test("a body that one refuses is not sent to it again, another one is")
    @ServiceActor
    func badRequest() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in .status(400, "Json deserialize error") }

        _ = await bench.ask()
        bench.transport.answer = { _ in .place() }
        await bench.clock.advance(by: .seconds(5))

        #expect(await bench.ask() == .unknown)
        #expect(await bench.ask(.work).place != nil)
        #expect(bench.transport.requests.count == 2)
    }

    @Test("a provider that refuses 5G towers is asked without them from then on, and is not in trouble for it")
    @ServiceActor
    func newRadio() async {
        let bench = LookupBench(LookupBench.first)
        let tower = CellTower(radio: .nr, countryCode: 262, networkCode: 2, areaCode: 1000, cellID: 1_715_004)
        bench.transport.answer = { $0.json?["cellTowers"] == nil ? .place() : .status(400) }

        let home = await bench.ask(LookupQuery(accessPoints: LookupQuery.home.accessPoints, cells: [tower]))
        let work = await bench.ask(LookupQuery(accessPoints: LookupQuery.work.accessPoints, cells: [tower]))
        let alone = await bench.ask(LookupQuery(cells: [tower]))

        #expect(home.place != nil && work.place != nil && alone == .unknown)
        #expect(bench.transport.requests.map { $0.json?["cellTowers"] != nil } == [true, false, false])
    }

    @Test("a place by address is refused where the address was not to be used")
    @ServiceActor
    func forbiddenFallback() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { _ in
            .status(200, #"{"location":{"lat":51.0,"lng":-0.1},"accuracy":25000,"fallback":"ipf"}"#)
        }

        let result = await bench.ask()
        let byAddress = await bench.ask(LookupQuery())

        #expect(result == .unknown)
        #expect(byAddress.place?.isByAddress == true)
        #expect(bench.transport.requests.last?.body == Array("{}".utf8))
    }

    @Test("what may not be sent is not asked about, not even by address")
    @ServiceActor
    func nothingToSend() async {
        let bench = LookupBench.pair()

        #expect(await bench.ask(.scan(0x0011_22AA_0001)) == .unknown)
        #expect(bench.transport.requests.isEmpty)
    }

    // MARK: One at a time

    @Test("equal questions at a time are one request")
    @ServiceActor
    func shared() async {
        let bench = LookupBench.pair()
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }

        let first = ServiceActor.start { _ = await bench.ask() }
        let second = ServiceActor.task { await bench.ask(.scan(0x0011_22AA_0002, 0x0011_22AA_0001)) }
        await until { bench.transport.open == 1 }
        await bench.clock.settle()
        bench.transport.release(.place())

        await first.value
        #expect(await second.value.place != nil)
        #expect(bench.transport.requests.count == 1)
    }

    @Test("a provider is asked one thing at a time, and one that fails meanwhile not at all")
    @ServiceActor
    func turns() async {
        let bench = LookupBench(LookupBench.first)
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }

        let tasks = [LookupQuery.home, .work, LookupQuery()].map { query in
            ServiceActor.task { await bench.ask(query) }
        }
        await until { bench.transport.open == 1 }
        bench.transport.release(.place())
        #expect(await tasks[0].value.place != nil)
        await until { bench.transport.open == 1 }
        bench.transport.release(.status(500))

        #expect(await tasks[1].value.retryAt == bench.clock.now + .seconds(5))
        #expect(await tasks[2].value.retryAt == bench.clock.now + .seconds(5))
        #expect(bench.transport.requests.count == 2 && bench.transport.mostOpen == 1)
    }

    @Test("whoever is cancelled before asking sends nothing")
    @ServiceActor
    func cancelledBefore() async {
        let bench = LookupBench.pair()

        let task = ServiceActor.task { await bench.ask() }
        task.cancel()

        #expect(await task.value.retryAt != nil)
        #expect(bench.transport.requests.isEmpty)
    }
}
