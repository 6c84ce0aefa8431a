import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct PacedJobTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let gate = Events<Void>()
        private(set) var begun = 0
        private(set) var ended = 0
        private(set) var job: PacedJob!

        init() {
            job = PacedJob(clock: clock) { [unowned self] in
                begun += 1
                try? await gate.next()
                ended += 1
            }
        }
    }

    @Test("what is asked for again and again is done once a second, and once more at the end")
    @ServiceActor
    func pace() async {
        let bench = Bench()
        for _ in 0..<10 { bench.gate.add(()) }

        for _ in 0..<30 {
            for _ in 0..<10 { bench.job.request() }
            await bench.clock.advance(by: .milliseconds(100))
        }

        #expect(bench.begun == 4)
        await bench.clock.advance(by: .seconds(60))
        #expect(bench.begun == 4 && bench.ended == 4 && bench.clock.pendingTimers == 0)
    }

    @Test("one is done at a time, however long it takes, and then once for all that was asked for meanwhile")
    @ServiceActor
    func oneAtATime() async {
        let bench = Bench()
        bench.job.request()
        for _ in 0..<10 {
            await bench.clock.advance(by: .seconds(1))
            bench.job.request()
        }

        #expect(bench.begun == 1)
        bench.gate.add(())
        await until { bench.begun == 2 }
        bench.gate.add(())
        await until { bench.ended == 2 }
        await bench.clock.advance(by: .seconds(60))
        #expect(bench.begun == 2)
    }

    @Test("what was asked for is taken back")
    @ServiceActor
    func cancel() async {
        let bench = Bench()
        bench.gate.add(())
        bench.job.request()
        await bench.clock.settle()
        bench.job.request()

        bench.job.cancel()
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.begun == 1)
    }
}
