import EventLoop
import Glibc
import Testing

@Suite struct EventLoopTests {
    init() { EventLoop.startThread() }

    @Test("timers fire in the order of their deadlines, whatever the order in which they were set")
    @ServiceActor
    func timerOrder() async {
        let (fired, sink) = AsyncStream.makeStream(of: Int.self)
        let timers = [30, 10, 20].map { delay in
            LoopClock.shared.after(.milliseconds(delay)) { sink.yield(delay) }
        }

        var order: [Int] = []
        for await delay in fired {
            order.append(delay)
            if order.count == 3 { break }
        }

        #expect(order == [10, 20, 30])
        #expect(timers.allSatisfy { !$0.isPending })
    }

    @Test("a cancelled timer does not fire, nor does one that nobody holds")
    @ServiceActor
    func cancelledTimer() async {
        var fired: [String] = []
        let cancelled = LoopClock.shared.after(.zero) { fired.append("cancelled") }
        cancelled.cancel()
        _ = LoopClock.shared.after(.zero) { fired.append("let go") }

        await withCheckedContinuation { continuation in
            let last = LoopClock.shared.after(.milliseconds(1)) { continuation.resume() }
            kept = last
        }

        #expect(fired.isEmpty)
    }

    @Test("a watch reports a readable descriptor until it is cancelled")
    @ServiceActor
    func watch() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
        let (events, sink) = AsyncStream.makeStream(of: Watch.Events.self)
        let watch = Watch(reader, for: .readable) { sink.yield($0) }

        _ = write(writer.raw, "x", 1)
        var iterator = events.makeAsyncIterator()
        let first = await iterator.next()
        watch.cancel()

        #expect(first?.contains(.readable) == true)
    }

    @Test("deferred work runs after the job that deferred it and before the loop sleeps")
    @ServiceActor
    func deferredWork() async {
        var order: [String] = []

        await withCheckedContinuation { continuation in
            EventLoop.shared.defer {
                order.append("deferred")
                continuation.resume()
            }
            order.append("job")
        }

        #expect(order == ["job", "deferred"])
    }

    @ServiceActor private static var kept: Timer?
    @ServiceActor private var kept: Timer? {
        get { Self.kept }
        nonmutating set { Self.kept = newValue }
    }
}
