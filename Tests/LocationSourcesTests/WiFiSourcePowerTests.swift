import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct WiFiSourcePowerTests {
    init() { EventLoop.startThread() }

    private typealias Bench = WiFiSourceBench

    // MARK: Stopping

    @Test("who stops ends the question, the scans and the listening, and an answer that comes late is void")
    @ServiceActor
    func stop() async {
        let bench = Bench()
        let answers = Events<LookupResult>()
        bench.lookup.answer = { _ in (try? await answers.next()) ?? .unknown }
        await bench.run()
        await bench.hear(Bench.here)
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
        bench.scanner.onListen = { [weak bench] in bench?.scanner.hear(Bench.here) }
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
        bench.scan { Bench.here }
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
        await bench.hear(Bench.here)

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
        bench.scan { Bench.here }
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
        await bench.hear(Bench.here)

        #expect(bench.fixes.count == 1 && bench.scanner.requests.isEmpty)
        await bench.run(.street)
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.scanner.requests.count == 1)
    }

    @Test("nobody is asked about nothing, or about one access point alone, and of many only about twenty")
    @ServiceActor
    func counts() async {
        let bench = Bench()
        await bench.run()
        await bench.hear([])
        await bench.hear([1])
        #expect(bench.queries == 0)

        await bench.hear(1...40)

        #expect(bench.lookup.queries.map(\.accessPoints.count) == [20])
    }

    @Test("while a receiver knows the place well nothing is scanned or asked, and soon after it no longer does")
    @ServiceActor
    func sharp() async {
        let bench = Bench()
        bench.isSo = true
        bench.source.isPositionSharp = { [weak bench] in bench?.isSo == true }
        bench.scan { Bench.here }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(300))
        #expect(bench.scanner.requests.isEmpty && bench.queries == 0)

        bench.isSo = false
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.scanner.requests.count == 1 && bench.fixes.count == 1)
    }

    @Test("for those who report what is received scans go on while a receiver knows the place, and nobody is asked")
    @ServiceActor
    func sharpButWanted() async {
        let bench = Bench()
        bench.isSo = true
        bench.source.isPositionSharp = { [weak bench] in bench?.isSo == true }
        bench.source.isScanWanted = { true }
        bench.scan { Bench.here }
        await bench.run()
        await bench.hear(Bench.here)
        await bench.clock.advance(by: .seconds(300))
        #expect(bench.scanner.requests.count > 3 && bench.queries == 0)

        bench.isSo = false
        await bench.clock.advance(by: .seconds(10))
        #expect(bench.queries == 1 && bench.fixes.count == 1)
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
}
