internal import CLinux
import Glibc
import Synchronization

/// One thread's epoll loop, and the executor of the jobs that belong on that thread.
///
/// The loop runs queued jobs, then deferred work, and sleeps in `epoll_wait` only when both are empty: a job that a
/// descriptor's handler queues does not wake epoll by itself.
///
/// Everything but `enqueue(_:)` and `stop(_:)` happens on the loop's own thread, which is why the state without a lock
/// may be `unchecked`.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// The loop that ``ServiceActor`` runs on.
    package static let shared = EventLoop()

    private let epoll: FileDescriptor
    private let wake: FileDescriptor
    private let timerDescriptor: FileDescriptor

    private let state = Mutex(Shared())
    /// The loop's thread; 0 before ``run(_:)``.
    private let thread = Atomic<UInt>(0)
    private var spareJobs: [Job] = []
    private var deferred: [@ServiceActor () -> Void] = []
    private var watches: [UInt64: Watch] = [:]
    private var nextWatch: UInt64 = 0
    private var timers = TimerQueue()
    private var armed: Duration?

    fileprivate struct Job {
        let job: UnownedJob
        /// Whether it came by way of ``LoopTaskExecutor``.
        let prefersLoop: Bool
    }

    /// What other threads may touch.
    fileprivate struct Shared {
        var jobs: [Job] = []
        var exitStatus: Int32?
    }

    init() {
        epoll = FileDescriptor(adopting: epoll_create1(Int32(EPOLL_CLOEXEC)))
        wake = FileDescriptor(adopting: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        timerDescriptor = FileDescriptor(
            adopting: timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)))
        precondition(
            epoll.raw >= 0 && wake.raw >= 0 && timerDescriptor.raw >= 0,
            "epoll, eventfd and timerfd are part of every Linux that systemd runs on")
        control(EPOLL_CTL_ADD, wake.raw, events: EPOLLIN.rawValue, id: Self.wakeID)
        control(EPOLL_CTL_ADD, timerDescriptor.raw, events: EPOLLIN.rawValue, id: Self.timerID)
    }

    // Watches count from zero, and never come this far.
    private static let wakeID = UInt64.max
    private static let timerID = UInt64.max - 1

    // MARK: Running

    /// Runs the loop on the calling thread until ``stop(_:)``, beginning with `body`.
    ///
    /// - Returns: the status given to ``stop(_:)``.
    package func run(_ body: @escaping @ServiceActor () async -> Void) -> Int32 {
        let (isFirst, _) = thread.compareExchange(
            expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent)
        precondition(isFirst, "the loop runs once")
        // The loop is itself a job of the actor whose handlers it calls.
        Task { @ServiceActor in
            ServiceActor.start(body)
            turn()
        }
        while true {
            if let status = state.withLock({ $0.exitStatus }) { return status }
            if let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { run(job) }
        }
    }

    /// Tells the runtime what the job runs on as the runtime knows it, or it would queue the job once more.
    private func run(_ job: Job) {
        if job.prefersLoop {
            job.job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: LoopTaskExecutor.shared.asUnownedTaskExecutor())
        } else {
            job.job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    /// Runs the loop for ever on a thread of its own; does nothing where it runs already.
    ///
    /// For clients and tests, whose main thread belongs to somebody else.
    package static func startThread() { _ = ownThread }

    private static let ownThread: Void = {
        var handle = pthread_t()
        let status = pthread_create(
            &handle, nil,
            { _ in
                _ = EventLoop.shared.run {}; return nil
            }, nil)
        precondition(status == 0, "a process without room for one thread cannot go on")
        pthread_detach(handle)
    }()

    /// Ends ``run(_:)`` once the work that is ready has been done. May be called from any thread.
    package func stop(_ status: Int32) {
        state.withLock { $0.exitStatus = $0.exitStatus ?? status }
        interrupt()
    }

    /// Runs `work` on the loop after the job or handler that is running now, before the loop sleeps.
    @ServiceActor
    package func `defer`(_ work: @escaping @ServiceActor () -> Void) {
        deferred.append(work)
    }

    /// Runs the jobs that are queued and those that they queue.
    ///
    /// For a handler that deals with several messages in a row and wants each one's replies out before the next.
    @ServiceActor
    package func drainJobs() {
        runJobs()
    }

    /// Turns until ``stop(_:)``.
    @ServiceActor
    private func turn() {
        while state.withLock({ $0.exitStatus == nil }) {
            runReady()
            sleepUntilReady()
        }
    }

    @ServiceActor
    private func runReady() {
        runJobs()
        guard !deferred.isEmpty else { return }
        let work = deferred
        deferred.removeAll(keepingCapacity: true)
        for item in work {
            item()
            runJobs()
        }
    }

    private func runJobs() {
        // A job may come here again (`drainJobs`), so the batch that is being run is nobody else's.
        var batch = spareJobs
        spareJobs = []
        while true {
            state.withLock { swap(&batch, &$0.jobs) }
            guard !batch.isEmpty else { break }
            for job in batch { run(job) }
            batch.removeAll(keepingCapacity: true)
        }
        spareJobs = batch
    }

    @ServiceActor
    private func sleepUntilReady() {
        let isReady = !deferred.isEmpty || state.withLock { !$0.jobs.isEmpty || $0.exitStatus != nil }
        if !isReady { armTimer() }
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            let count = epoll_wait(epoll.raw, events.baseAddress, Int32(events.count), isReady ? 0 : -1)
            for event in events.prefix(Int(max(count, 0))) { handle(event) }
        }
    }

    @ServiceActor
    private func handle(_ event: epoll_event) {
        switch event.data.u64 {
        case Self.wakeID: _ = wake.readCounter()
        case Self.timerID:
            _ = timerDescriptor.readCounter()
            armed = nil
            fireTimers()
        case let id:
            // Gone if a handler before it has cancelled it; a number of its own, since descriptors are used again.
            guard let watch = watches[id] else { return }
            watch.handler(Watch.Events(rawValue: event.events))
            runJobs()
        }
    }

    // MARK: Descriptors

    /// - Returns: the number that stands for the watch.
    @ServiceActor
    func add(_ watch: Watch) -> UInt64 {
        let id = nextWatch
        nextWatch += 1
        watches[id] = watch
        control(EPOLL_CTL_ADD, watch.descriptor, events: watch.interest.rawValue, id: id)
        return id
    }

    @ServiceActor
    func update(_ watch: Watch) {
        guard watches[watch.id] != nil else { return }
        control(EPOLL_CTL_MOD, watch.descriptor, events: watch.interest.rawValue, id: watch.id)
    }

    @ServiceActor
    func remove(_ watch: Watch) {
        guard watches.removeValue(forKey: watch.id) != nil else { return }
        control(EPOLL_CTL_DEL, watch.descriptor, events: 0, id: watch.id)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, events: UInt32, id: UInt64) {
        var event = epoll_event(events: events, data: epoll_data(u64: id))
        guard epoll_ctl(epoll.raw, operation, descriptor, &event) != 0 else { return }
        let reason = errno
        precondition(reason != EEXIST, "one watch a descriptor")
        Log.error("cannot watch a descriptor: \(String(cString: strerror(reason)))")
    }

    // MARK: Timers

    @ServiceActor
    func schedule(_ timer: Timer, at deadline: Duration) {
        timers.insert(timer, at: deadline)
    }

    private func armTimer() {
        guard let deadline = timers.earliest() else { return }
        // Set too early for a timer that has been cancelled since costs one wake-up; setting anew each time, far more.
        if let armed, armed <= deadline { return }
        armed = deadline
        let parts = max(deadline, .nanoseconds(1)).components
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(parts.seconds)
        setting.it_value.tv_nsec = Int(parts.attoseconds / 1_000_000_000)
        _ = timerfd_settime(timerDescriptor.raw, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    @ServiceActor
    private func fireTimers() {
        let now = LoopClock.now
        while let timer = timers.popDue(now) {
            timer.fire()
            runJobs()
        }
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), prefersLoop: false) }

    func enqueue(_ job: UnownedJob, prefersLoop: Bool) {
        state.withLock { $0.jobs.append(Job(job: job, prefersLoop: prefersLoop)) }
        if !isOnLoopThread { interrupt() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() {
        precondition(isOnLoopThread, "this belongs on the event loop's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

    private var isOnLoopThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    private func interrupt() {
        var one: UInt64 = 1
        _ = write(wake.raw, &one, MemoryLayout<UInt64>.size)
    }
}
