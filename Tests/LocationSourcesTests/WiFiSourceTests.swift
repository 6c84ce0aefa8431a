import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct WiFiSourceTests {
    init() { EventLoop.startThread() }

    private typealias Bench = WiFiSourceBench

    // MARK: At rest

    @Test("while nobody asks nothing is scanned, read or asked, whatever others scan")
    @ServiceActor
    func silence() async {
        let bench = Bench()

        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(36_000))

        #expect(bench.source.availableLevel == .street && bench.reports.all == [.availabilityChanged])
        #expect(!bench.scanner.isListening && bench.scanner.requests.isEmpty && bench.queries == 0)
        #expect(bench.clock.timersSet == 0)
    }

    @Test("streets can be had with an adapter and a way to the lookup, and nothing without")
    @ServiceActor
    func level() {
        let bench = Bench(hasAdapter: false)

        #expect(bench.source.availableLevel == .none)
        bench.scanner.hasAdapter = true
        #expect(bench.source.availableLevel == .street)
        bench.lookup.isReachable = false
        #expect(bench.source.availableLevel == .none)
        bench.lookup.isReachable = true
        bench.lookup.encourage()
        bench.scanner.hasAdapter = false
        #expect(bench.source.availableLevel == .none)
        #expect(bench.reports.all == Array(repeating: .availabilityChanged, count: 4))
    }

    // MARK: Finding

    @Test("a scan that somebody else made a moment ago is enough, and one that is old is not")
    @ServiceActor
    func reuse() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(Bench.here, age: .seconds(4))

        #expect(bench.queries == 1 && bench.fixes.count == 1 && bench.scanner.requests.isEmpty)
        await bench.clock.advance(by: .seconds(6))
        #expect(bench.scanner.requests == [bench.clock.now])
        bench.source.run(for: nil)

        let other = Bench()
        await other.run()
        await other.hear(Bench.here, age: .seconds(61))
        #expect(other.scanner.requests == [other.clock.now] && other.queries == 0)
        await other.hear(Bench.here)
        #expect(other.queries == 1 && other.fixes.count == 1)
    }

    @Test("the fix is of the moment of the scan, on both clocks, and is as exact as the answer says")
    @ServiceActor
    func fix() async throws {
        let bench = Bench()
        await bench.run()
        await bench.hear(Bench.here, age: .seconds(4))

        let fix = try #require(bench.fixes.first)
        #expect(fix.coordinate == Coordinate(latitude: 52.52, longitude: 13.405) && fix.horizontalAccuracy == 30)
        #expect(fix.measuredAt == bench.clock.now - .seconds(4))
        #expect(fix.timestamp == Timestamp(microseconds: bench.clock.wallTime - 4_000_000))
        #expect(fix.kind == .wifi && fix.source == "wifi" && fix.speed == nil && fix.altitude == nil)
    }

    @Test("an answer that is remembered for hours is a place of now, since its access points are heard now")
    @ServiceActor
    func remembered() async {
        let bench = Bench()
        bench.lookup.answer = { _ in .found(Bench.place(at: .zero)) }
        await bench.run()
        await bench.hear(Bench.here)

        #expect(bench.fixes.map(\.measuredAt) == [bench.clock.now])
    }

    @Test("only what may be sent is asked about, and no single access point")
    @ServiceActor
    func privacy() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(Bench.here, name: "home_nomap")
        await bench.clock.advance(by: .seconds(10))
        await bench.hear([1, 0x0200_0000_0001, 0x0200_0000_0002])

        #expect(bench.queries == 0 && bench.fixes.isEmpty)
        await bench.clock.advance(by: .seconds(10))
        await bench.hear((1...30).map { $0 } + [0x0200_0000_0001])
        #expect(bench.lookup.queries.map { $0.accessPoints.map(\.address) } == [Array(1...20)])
        #expect(bench.lookup.queries.allSatisfy { $0.cells.isEmpty })
    }

    @Test("as long as the same is heard the place is told anew with each scan, and asked about every five minutes")
    @ServiceActor
    func same() async throws {
        let bench = Bench()
        bench.scan { Bench.here }
        await bench.run()
        await bench.hear(Bench.here)

        await bench.clock.advance(by: .seconds(299))
        #expect(bench.queries == 1)
        let first = try #require(bench.fixes.first)
        #expect(
            bench.fixes.map { $0.measuredAt - first.measuredAt } == [0, 10, 30, 70, 130].map { .seconds($0) })
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(52.53, at: clock.now)) }
        await bench.clock.advance(by: .seconds(131))

        #expect(bench.queries == 2 && bench.fixes.count == 6)
        #expect(bench.fixes.map(\.coordinate.latitude) == [52.52, 52.52, 52.52, 52.52, 52.52, 52.53])
        // What has moved may go on moving.
        #expect(bench.clock.hasTimer(in: .seconds(10)))
    }

    @Test("another place is asked about at once, and one that has changed a little is not")
    @ServiceActor
    func change() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(1...10)
        await bench.clock.advance(by: .seconds(3))
        await bench.hear(2...11)

        #expect(bench.queries == 1 && bench.fixes.count == 2)
        await bench.clock.advance(by: .seconds(3))
        await bench.hear(Bench.there)
        #expect(bench.queries == 2 && bench.fixes.count == 3)
    }

    @Test("the same scan read again tells nothing new")
    @ServiceActor
    func rereading() async {
        let bench = Bench()
        await bench.run()
        for _ in 0..<5 { await bench.hear(Bench.here) }

        #expect(bench.queries == 1 && bench.fixes.count == 1)
    }

    @Test("what nobody knows is not asked about again before something else is heard")
    @ServiceActor
    func unknown() async {
        let bench = Bench()
        bench.scan { Bench.here }
        bench.lookup.answer = { _ in .unknown }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(1000))
        bench.lookup.encourage()
        await bench.clock.settle()

        #expect(bench.queries == 1 && bench.fixes.isEmpty && bench.source.availableLevel == .street)
        await bench.hear(Bench.there)
        #expect(bench.queries == 2)
    }

    @Test("where the machine's address is said to be is nothing that access points say")
    @ServiceActor
    func byAddress() async {
        let bench = Bench()
        bench.scan { Bench.here }
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(isByAddress: true, at: clock.now)) }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(400))

        #expect(bench.queries == 1 && bench.fixes.isEmpty)
    }

    @Test("what is heard while an answer is under way is asked about when it is there")
    @ServiceActor
    func overtaken() async {
        let bench = Bench()
        let answers = Events<LookupResult>()
        bench.lookup.answer = { _ in (try? await answers.next()) ?? .unknown }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(3))
        await bench.hear(Bench.there)

        #expect(bench.queries == 1)
        let moment = bench.clock.now
        answers.add(.found(Bench.place(at: moment)))
        await until { bench.queries == 2 }
        #expect(bench.fixes.map(\.measuredAt) == [moment - .seconds(3)])
        answers.add(.found(Bench.place(52.6, at: moment)))
        await until { bench.fixes.count == 2 }
        #expect(bench.fixes.last?.measuredAt == moment)
    }

    // MARK: Others

    @Test("whoever collects what is heard gets all that may be told, with each reading while the source runs")
    @ServiceActor
    func collecting() async {
        let bench = Bench()
        var collected: [[UInt64]] = []
        bench.source.onScan = { collected.append($0.map(\.address)) }
        bench.source.isPositionSharp = { true }
        await bench.run()
        await bench.hear(1...30)
        await bench.clock.advance(by: .seconds(61))
        await bench.hear([0x0200_0000_0001])
        await bench.hear([7])
        bench.source.run(for: nil)
        await bench.hear(1...3)

        #expect(collected == [Array(1...30), [7]])
    }
}
