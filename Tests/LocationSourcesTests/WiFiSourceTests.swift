import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct WiFiSourceTests {
    init() { EventLoop.startThread() }

    private static let here: ClosedRange<UInt64> = 1...5
    private static let there: ClosedRange<UInt64> = 11...15

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let scanner: ScriptedScanner
        let lookup = ScriptedLookup()
        let source: WiFiSource
        let reports: Reports
        /// Whether the machine moves, or a receiver knows where it is: as the test has it.
        var isSo = false

        init(hasAdapter: Bool = true) {
            scanner = ScriptedScanner(hasAdapter: hasAdapter, clock: clock)
            source = WiFiSource(scanners: [scanner], lookup: lookup, clock: clock)
            reports = Reports(of: source)
            lookup.answer = { [clock] _ in .found(Bench.place(at: clock.now)) }
            source.discover()
        }

        static func place(
            _ latitude: Double = 52.52, _ longitude: Double = 13.405, accuracy: Double = 30, isByAddress: Bool = false,
            at moment: Duration
        ) -> FoundPlace {
            FoundPlace(
                coordinate: Coordinate(latitude: latitude, longitude: longitude)!, accuracy: accuracy,
                measuredAt: moment, isByAddress: isByAddress, provider: "example.org")
        }

        /// Runs for a demand; what was heard so far is read.
        func run(_ level: AccuracyLevel = .exact, every seconds: UInt32 = 0) async {
            source.run(for: Demand(level: level, minimumInterval: seconds))
            await clock.settle()
        }

        func hear(_ addresses: some Sequence<UInt64>, name: String = "home", age: Duration = .zero) async {
            scanner.hear(addresses, name: name, age: age)
            await clock.settle()
        }

        /// Answers requests for scans with what is heard at that time.
        func scan(_ addresses: @escaping @ServiceActor () -> ClosedRange<UInt64>) {
            scanner.onRequest = { [weak scanner] in scanner?.hear(addresses()) }
        }

        var fixes: [Fix] { reports.all.compactMap { if case .fix(let fix) = $0 { fix } else { nil } } }
        var queries: Int { lookup.queries.count }
    }

    // MARK: At rest

    @Test("while nobody asks nothing is scanned, read or asked, whatever others scan")
    @ServiceActor
    func silence() async {
        let bench = Bench()

        await bench.hear(Self.here)
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
        await bench.hear(Self.here, age: .seconds(4))

        #expect(bench.queries == 1 && bench.fixes.count == 1 && bench.scanner.requests.isEmpty)
        await bench.clock.advance(by: .seconds(6))
        #expect(bench.scanner.requests == [bench.clock.now])
        bench.source.run(for: nil)

        let other = Bench()
        await other.run()
        await other.hear(Self.here, age: .seconds(61))
        #expect(other.scanner.requests == [other.clock.now] && other.queries == 0)
        await other.hear(Self.here)
        #expect(other.queries == 1 && other.fixes.count == 1)
    }

    @Test("the fix is of the moment of the scan, on both clocks, and is as exact as the answer says")
    @ServiceActor
    func fix() async throws {
        let bench = Bench()
        await bench.run()
        await bench.hear(Self.here, age: .seconds(4))

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
        await bench.hear(Self.here)

        #expect(bench.fixes.map(\.measuredAt) == [bench.clock.now])
    }

    @Test("only what may be sent is asked about, and no single access point")
    @ServiceActor
    func privacy() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(Self.here, name: "home_nomap")
        await bench.clock.advance(by: .seconds(10))
        await bench.hear([1, 0x0200_0000_0001, 0x0200_0000_0002])

        #expect(bench.queries == 0 && bench.fixes.isEmpty)
        await bench.clock.advance(by: .seconds(10))
        await bench.hear((1...30).map { $0 } + [0x0200_0000_0001])
        #expect(bench.lookup.queries.map { $0.accessPoints.map(\.address) } == [Array(1...20)])
        #expect(bench.lookup.queries[0].cells.isEmpty)
    }

    @Test("as long as the same is heard the place is told anew with each scan, and asked about every five minutes")
    @ServiceActor
    func same() async {
        let bench = Bench()
        bench.scan { Self.here }
        await bench.run()
        await bench.hear(Self.here)

        await bench.clock.advance(by: .seconds(299))
        #expect(bench.queries == 1)
        #expect(
            bench.fixes.map { $0.measuredAt - bench.fixes[0].measuredAt } == [0, 10, 30, 70, 130].map { .seconds($0) })
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
        await bench.hear(Self.there)
        #expect(bench.queries == 2 && bench.fixes.count == 3)
    }

    @Test("the same scan read again tells nothing new")
    @ServiceActor
    func rereading() async {
        let bench = Bench()
        await bench.run()
        for _ in 0..<5 { await bench.hear(Self.here) }

        #expect(bench.queries == 1 && bench.fixes.count == 1)
    }

    @Test("what nobody knows is not asked about again before something else is heard")
    @ServiceActor
    func unknown() async {
        let bench = Bench()
        bench.scan { Self.here }
        bench.lookup.answer = { _ in .unknown }
        await bench.run()
        await bench.hear(Self.here)
        await bench.clock.advance(by: .seconds(1000))
        bench.lookup.encourage()
        await bench.clock.settle()

        #expect(bench.queries == 1 && bench.fixes.isEmpty && bench.source.availableLevel == .street)
        await bench.hear(Self.there)
        #expect(bench.queries == 2)
    }

    @Test("where the machine's address is said to be is nothing that access points say")
    @ServiceActor
    func byAddress() async {
        let bench = Bench()
        bench.scan { Self.here }
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(isByAddress: true, at: clock.now)) }
        await bench.run()
        await bench.hear(Self.here)
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
        await bench.hear(Self.here)
        await bench.clock.advance(by: .seconds(3))
        await bench.hear(Self.there)

        #expect(bench.queries == 1)
        let moment = bench.clock.now
        answers.add(.found(Bench.place(at: moment)))
        await until { bench.queries == 2 }
        #expect(bench.fixes.map(\.measuredAt) == [moment - .seconds(3)])
        answers.add(.found(Bench.place(52.6, at: moment)))
        await until { bench.fixes.count == 2 }
        #expect(bench.fixes.last?.measuredAt == moment)
    }

    // MARK: Failing

    @Test("while lookups fail nothing can be had, nothing is scanned, and the question comes again when the chain says")
    @ServiceActor
    func failure() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(40)) }
        await bench.run()
        await bench.hear(Self.here)

        #expect(bench.source.availableLevel == .none)
        await bench.clock.advance(by: .seconds(39))
        #expect(bench.scanner.requests.isEmpty && bench.queries == 1)
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(at: clock.now)) }
        bench.scan { Self.here }
        await bench.clock.advance(by: .seconds(1))

        #expect(bench.queries == 2 && bench.fixes.count == 1 && bench.source.availableLevel == .street)
        #expect(bench.fixes[0].measuredAt <= bench.clock.now)
        #expect(bench.reports.all.count { $0 == .availabilityChanged } == 3)
    }

    @Test("for the next question what is heard is new, even if nothing has changed for long")
    @ServiceActor
    func freshQuestion() async {
        let bench = Bench()
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(300)) }
        await bench.run()
        await bench.hear(Self.here)
        for wait in [20, 40, 60, 80] {
            await bench.clock.advance(by: .seconds(wait))
            await bench.hear(Self.here)
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
        await bench.hear(Self.here)
        await bench.clock.advance(by: .seconds(600))
        #expect(bench.queries == 1)

        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(at: clock.now)) }
        bench.scan { Self.there }
        bench.lookup.encourage()
        await bench.clock.settle()

        #expect(bench.scanner.requests == [bench.clock.now])
        #expect(bench.lookup.queries.last?.accessPoints.map(\.address) == Array(Self.there))
        #expect(bench.fixes.count == 1)
    }

    @Test("without a network nothing is scanned or asked, and with it the place is there at once")
    @ServiceActor
    func offline() async {
        let bench = Bench()
        bench.lookup.isReachable = false
        bench.scan { Self.here }
        await bench.run()
        await bench.hear(Self.here)
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
        await bench.hear(Self.here)

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
        await bench.hear(Self.here)

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
        bench.scan { Self.here }
        bench.scanner.onListen = { [weak bench] in bench?.scanner.hear(Self.here) }
        bench.lookup.answer = { [clock = bench.clock] _ in .unavailable(retryAt: clock.now + .seconds(60)) }
        let other = ScriptedSource("cell", kind: .cell, level: .street, clock: bench.clock)
        let positioner = Positioner(sources: [bench.source, other], clock: bench.clock)
        positioner.discover()

        positioner.demand = Demand(level: .street, minimumInterval: 0)
        await bench.clock.advance(by: .seconds(600))

        #expect((1...11).contains(bench.queries) && other.starts == 1)
        #expect(positioner.availableLevel == .street && bench.scanner.requests.count <= 11)
    }

    // MARK: Stopping

    @Test("who stops ends the question, the scans and the listening, and an answer that comes late is void")
    @ServiceActor
    func stop() async {
        let bench = Bench()
        let answers = Events<LookupResult>()
        bench.lookup.answer = { _ in (try? await answers.next()) ?? .unknown }
        await bench.run()
        await bench.hear(Self.here)
        #expect(bench.queries == 1)

        bench.source.run(for: nil)
        answers.add(.found(Bench.place(at: bench.clock.now)))
        await bench.clock.advance(by: .seconds(3600))

        #expect(bench.fixes.isEmpty && bench.scanner.requests.isEmpty && !bench.scanner.isListening)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("who starts again at the same place gets it without a question")
    @ServiceActor
    func again() async {
        let bench = Bench()
        bench.scanner.onListen = { [weak bench] in bench?.scanner.hear(Self.here) }
        await bench.run()
        bench.source.run(for: nil)
        await bench.run()
        await bench.clock.advance(by: .seconds(5))
        bench.source.run(for: nil)
        await bench.run()

        #expect(bench.queries == 1 && bench.fixes.count == 3)
    }

    @Test("starting and stopping without end causes no more scans than running on")
    @ServiceActor
    func toggled() async {
        let bench = Bench()
        bench.scan { Self.here }
        bench.scanner.onListen = { [weak bench] in
            if let bench { bench.scanner.onEvent?(.heard) }
        }

        for _ in 0..<100 {
            await bench.run()
            await bench.clock.advance(by: .milliseconds(500))
            bench.source.run(for: nil)
        }

        #expect(bench.scanner.requests.count <= 6 && bench.queries == 1)
    }

    // MARK: Power

    @Test("who stands still causes few scans, and who moves one in ten seconds")
    @ServiceActor
    func pace() async {
        let bench = Bench()
        bench.scan { [weak bench] in
            let step = bench?.isSo == true ? UInt64(bench?.scanner.requests.count ?? 0) * 5 : 0
            return step + 1...step + 5
        }
        await bench.run()
        await bench.hear(Self.here)

        await bench.clock.advance(by: .seconds(3600))
        #expect(bench.scanner.requests.count <= 16)
        bench.isSo = true
        await bench.clock.advance(by: .seconds(300))
        let before = bench.scanner.requests.count
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.scanner.requests.count - before == 6)
    }

    @Test("a found place that moves keeps scans frequent, even if the same is heard")
    @ServiceActor
    func movingPlace() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(1...10)
        bench.lookup.answer = { [clock = bench.clock] _ in .found(Bench.place(52.53, at: clock.now)) }
        await bench.clock.advance(by: .seconds(9))
        await bench.hear(4...13)

        await bench.clock.advance(by: .seconds(10))
        #expect(bench.scanner.requests == [bench.clock.now])
        await bench.clock.advance(by: .seconds(1))
        await bench.hear(Array(4...8), age: .seconds(21))
        #expect(bench.queries == 2)
    }

    @Test("who wants an update an hour causes at most one scan in ten minutes")
    @ServiceActor
    func hourly() async {
        let bench = Bench()
        bench.scan { Self.here }
        bench.scanner.onListen = { [weak bench] in bench?.scanner.onEvent?(.heard) }
        await bench.run(every: 3600)
        await bench.clock.advance(by: .seconds(1800))

        #expect(bench.scanner.requests.count == 4)
        #expect(zip(bench.scanner.requests, bench.scanner.requests.dropFirst()).allSatisfy { $1 - $0 >= .seconds(600) })
    }

    @Test("who needs the city causes no scan, and gets what scans of others say")
    @ServiceActor
    func city() async {
        let bench = Bench()
        await bench.run(.city)
        await bench.clock.advance(by: .seconds(1800))
        #expect(bench.scanner.requests.isEmpty && bench.clock.pendingTimers == 0)
        await bench.hear(Self.here)

        #expect(bench.fixes.count == 1 && bench.scanner.requests.isEmpty)
        await bench.run(.street)
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.scanner.requests.count == 1)
    }

    @Test("while a receiver knows the place well nothing is scanned or asked, and soon after it no longer does")
    @ServiceActor
    func sharp() async {
        let bench = Bench()
        bench.isSo = true
        bench.source.isPositionSharp = { [weak bench] in bench?.isSo == true }
        bench.scan { Self.here }
        await bench.run()
        await bench.hear(Self.here)
        await bench.clock.advance(by: .seconds(300))
        #expect(bench.scanner.requests.isEmpty && bench.queries == 0)

        bench.isSo = false
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.scanner.requests.count == 1 && bench.fixes.count == 1)
    }

    @Test("scans that never end are asked for less and less often")
    @ServiceActor
    func deafAdapter() async {
        let bench = Bench()
        await bench.run()
        await bench.hear([])
        await bench.clock.advance(by: .seconds(3600))

        #expect(bench.scanner.requests.count <= 18)
    }

    // MARK: Adapters

    @Test("with the last adapter the position is lost, and with a new one it comes back")
    @ServiceActor
    func adapterGone() async {
        let bench = Bench()
        await bench.run()
        await bench.hear(Self.here)

        bench.scanner.hasAdapter = false
        #expect(bench.reports.all.suffix(2) == [.lost(source: "wifi"), .availabilityChanged])
        #expect(bench.clock.pendingTimers == 0 && !bench.scanner.isListening)
        bench.scanner.hasAdapter = true
        #expect(bench.scanner.isListening && bench.source.availableLevel == .street)
        await bench.clock.advance(by: .seconds(1))
        await bench.hear(Self.here)
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
        second.hear(Self.here)
        await clock.settle()
        #expect(second.isListening && !first.isListening && lookup.queries.count == 1)

        first.hasAdapter = true
        #expect(first.isListening && !second.isListening)
        await clock.advance(by: .seconds(30))
        #expect(second.requests.isEmpty && first.requests.isEmpty)
        first.hear(Self.there)
        second.hear(Self.here)
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
