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

    @Test("a task of the loop that is resumed goes on before the loop does anything else")
    @ServiceActor
    func resumption() async {
        let steps = Steps()

        await ServiceActor.task {
            let waiting = ServiceActor.task {
                await withCheckedContinuation { steps.waiting = $0 }
                steps.names.append("resumed")
            }
            while steps.waiting == nil { await Task.yield() }
            await withCheckedContinuation { done in
                EventLoop.shared.defer {
                    steps.names.append("deferred")
                    done.resume()
                }
                steps.waiting?.resume()
            }
            await waiting.value
        }.value

        #expect(steps.names == ["resumed", "deferred"])
    }

    @Test("a task that is started begins before the loop's next event")
    @ServiceActor
    func start() async {
        let steps = Steps()

        await withCheckedContinuation { done in
            EventLoop.shared.defer {
                _ = ServiceActor.start { steps.names.append("begun") }
            }
            EventLoop.shared.defer {
                steps.names.append("next")
                done.resume()
            }
        }

        #expect(steps.names == ["begun", "next"])
    }

    @Test("a job from another thread wakes the loop")
    func otherThread() async {
        let answer = await Task.detached { await ServiceActor.task { 42 }.value }.value

        #expect(answer == 42)
    }

    @Test("an event for a watch that was cancelled in the same turn is nobody's, though the descriptor has a new owner")
    @ServiceActor
    func reusedDescriptor() async {
        let (first, second) = (Pipe(), Pipe())
        let steps = Steps()

        await withCheckedContinuation { done in
            // Both are ready in one turn. Whichever is told first gives the other's descriptor to an empty pipe.
            for (mine, other) in [(first, second), (second, first)] {
                mine.watch = Watch(mine.reader, for: .readable) { _ in
                    mine.watch?.cancel()
                    other.watch?.cancel()
                    let empty = Pipe()
                    dup2(empty.reader.raw, other.reader.raw)
                    other.watch = Watch(other.reader, for: .readable) { _ in steps.names.append("stale") }
                    steps.kept = empty
                    EventLoop.shared.defer { done.resume() }
                }
            }
            first.fill()
            second.fill()
        }
        first.watch?.cancel()
        second.watch?.cancel()

        #expect(steps.names.isEmpty)
    }

    /// A pipe that is empty until it is filled.
    @ServiceActor private final class Pipe {
        let reader: FileDescriptor
        let writer: FileDescriptor
        var watch: Watch?

        init() {
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            reader = FileDescriptor(adopting: ends[0])
            writer = FileDescriptor(adopting: ends[1])
        }

        func fill() { _ = write(writer.raw, "x", 1) }
    }

    @ServiceActor private final class Steps {
        var names: [String] = []
        var waiting: CheckedContinuation<Void, Never>?
        var kept: Pipe?
    }

    @ServiceActor private static var kept: Timer?
    @ServiceActor private var kept: Timer? {
        get { Self.kept }
        nonmutating set { Self.kept = newValue }
    }
}
