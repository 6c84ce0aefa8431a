import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// Lookups that fail, and adapters that go.
@Suite(.timeLimit(.minutes(1))) struct WiFiSourceFaultTests {
    init() { EventLoop.startThread() }

    private typealias Bench = WiFiSourceBench

    // MARK: Failing

    @Test("while lookups fail nothing can be had, nothing is scanned, and the question comes again when the chain says")
    @ServiceActor
    func failure() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(40)) }
        await bench.run()
        await bench.hear(Bench.here)

        #expect(bench.source.availableLevel == .none)
        await bench.clock.advance(by: .seconds(39))
        #expect(bench.scanner.requests.isEmpty && bench.queries == 1)
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(at: clock.now)) }
        bench.scan { Bench.here }
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.queries == 2 && bench.fixes.count == 1 && bench.source.availableLevel == .street)
        #expect(bench.fixes.allSatisfy { $0.measuredAt <= bench.clock.now })
        #expect(bench.reports.all.count { $0 == .availabilityChanged } == 3)
    }

    @Test("for the next question what is heard is new, even if nothing has changed for long")
    @ServiceActor
    func freshQuestion() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(300)) }
        await bench.run()
        await bench.hear(Bench.here)
        for wait in [20, 40, 60, 80] {
            await bench.clock.advance(by: .seconds(wait))
            await bench.hear(Bench.here)
        }

        await bench.clock.advance(by: .seconds(100))

        #expect(bench.scanner.requests == [bench.clock.now])
    }

    @Test("when asking has become worth while it is asked at once, with what is heard then")
    @ServiceActor
    func encouraged() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(3000)) }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(600))
        #expect(bench.queries == 1)

        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(at: clock.now)) }
        bench.scan { Bench.there }
        bench.lookup.encourage()
        await bench.clock.settle()

        #expect(bench.scanner.requests == [bench.clock.now])
        #expect(bench.lookup.queries.last?.accessPoints.map(\.address) == Array(Bench.there))
        #expect(bench.fixes.count == 1)
    }

    @Test("without a network nothing is scanned or asked, and with it the place is there at once")
    @ServiceActor
    func offline() async {
        let bench = Bench()
        bench.lookup.isReachable = false
        bench.scan { Bench.here }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(600))
        #expect(bench.queries == 0 && bench.scanner.requests.isEmpty && bench.clock.pendingTimers == 0)

        bench.lookup.isReachable = true
        await bench.clock.settle()

        #expect(bench.scanner.requests.count == 1 && bench.queries == 1)
        #expect(bench.fixes.map(\.measuredAt) == [bench.clock.now])
    }

    @Test("a failure counts only while the source runs, and one that still holds counts from the start")
    @ServiceActor
    func failureForgotten() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(60)) }
        await bench.run()
        await bench.hear(Bench.here)

        bench.source.run(for: nil)
        #expect(bench.source.availableLevel == .street)
        await bench.run()
        #expect(bench.source.availableLevel == .none)
        bench.source.run(for: nil)
        await bench.clock.advance(by: .seconds(61))
        await bench.run()
        #expect(bench.source.availableLevel == .street && bench.queries == 1)
    }

    @Test("a chain that always wants to be asked at once is asked every five seconds")
    @ServiceActor
    func eager() async {
        let bench = Bench()
        bench.lookup.answer = { [lookup = bench.lookup] _ in
            lookup.encourage()
            return .unavailable(retryAt: .zero)
        }
        await bench.run()
        await bench.hear(Bench.here)

        for _ in 0..<100 { bench.lookup.encourage() }
        await bench.clock.settle()
        #expect(bench.queries == 1)
        await bench.clock.advance(by: .seconds(20))
        #expect(bench.queries == 5)
    }

    @Test("a failing lookup beside a source that is well neither stops the one nor keeps asking the other")
    @ServiceActor
    func besideOthers() async {
        let bench = Bench()
        bench.scan { Bench.here }
        bench.scanner.onListen = { [weak bench] in bench?.scanner.hear(Bench.here) }
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(60)) }
        let other = ScriptedSource("cell", kind: .cell, level: .street, clock: bench.clock)
        let positioner = Positioner(sources: [bench.source, other], clock: bench.clock)
        positioner.discover()

        positioner.demand = Demand(level: .street, minimumInterval: 0)
        await bench.clock.advance(by: .seconds(600))

        #expect((1...11).contains(bench.queries) && other.starts == 1)
        #expect(positioner.availableLevel == .street && bench.scanner.requests.count <= 11)
    }

    // MARK: Adapters

    @Test("with the last adapter the position is lost, and with a new one it comes back")
    @ServiceActor
    func adapterGone() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(Bench.here)

        bench.scanner.hasAdapter = false
        #expect(bench.reports.all.suffix(2) == [.lost(source: "wifi"), .availabilityChanged])
        #expect(bench.clock.pendingTimers == 0 && !bench.scanner.isListening)
        bench.scanner.hasAdapter = true
        #expect(bench.scanner.isListening && bench.source.availableLevel == .street)
        await bench.clock.advance(by: .seconds(1))
        await bench.hear(Bench.here)
        #expect(bench.fixes.count == 2 && bench.queries == 1)
    }

    @Test("an adapter that goes before there was a position loses none")
    @ServiceActor
    func nothingToLose() async {
        let bench = Bench()
        bench.scanner.hasAdapter = false

        #expect(bench.reports.all == [.availabilityChanged, .availabilityChanged])
    }

    @Test("the first scanner that has an adapter is used, and only that one")
    @ServiceActor
    func preference() async {
        let clock = ManualClock()
        let first = ScriptedScanner(hasAdapter: false, clock: clock)
        let second = ScriptedScanner(clock: clock)
        let lookup = ScriptedLookup()
        lookup.answer = { _ in .found(Bench.place(at: clock.now)) }
        let source = WiFiSource(scanners: [first, second], lookup: lookup, clock: clock)
        let reports = Reports(of: source)
        source.discover()
        source.run(for: .exact)
        second.hear(Bench.here)
        await clock.settle()
        #expect(second.isListening && !first.isListening && lookup.queries.count == 1)

        first.hasAdapter = true
        #expect(first.isListening && !second.isListening)
        await clock.advance(by: .seconds(30))
        #expect(second.requests.isEmpty && first.requests.isEmpty)
        first.hear(Bench.there)
        second.hear(Bench.here)
        await clock.settle()
        #expect(lookup.queries.map(\.accessPoints.count) == [5, 5])
        second.hasAdapter = false
        second.hasAdapter = true
        await clock.advance(by: .seconds(10))
        #expect(first.requests == [clock.now] && second.requests.isEmpty)
        first.hasAdapter = false
        second.hasAdapter = false

        #expect(reports.all.count { $0 == .lost(source: "wifi") } == 1 && source.availableLevel == .none)
    }
}
