import EventLoop
import Glibc
import Synchronization

/// The one thread that writes the file. It starts with the first change.
///
/// Changes that come while it writes go into its next transaction together. What could not be written is tried again
/// with the next change, and every half a minute.
final class RecordWriter: Sendable {
    private struct Queue {
        var changes: [StoreChange] = []
        /// The number of the last change that was handed in.
        var last: UInt64 = 0
        var isStarted = false
        var isEnding = false
    }

    private let file: RecordFile
    private let directory: StateDirectory
    private let patience: Int32
    /// Called on the thread with the number of the last change that was tried, and with what went wrong.
    private let report: @Sendable (UInt64, StoreFault?) -> Void
    private let queue = Mutex(Queue())
    /// Counts how often changes were handed in.
    private let semaphore: Semaphore

    /// - Parameter patience: how long a transaction waits for the lock of another program, in milliseconds.
    init(
        _ file: RecordFile, in directory: StateDirectory, patience: Int32,
        report: @escaping @Sendable (UInt64, StoreFault?) -> Void
    ) {
        self.file = file
        self.directory = directory
        self.patience = patience
        self.report = report
        semaphore = Semaphore()
    }

    /// Hands a change to the thread.
    ///
    /// - Returns: its number, counted up from 1.
    func submit(_ change: StoreChange) -> UInt64 {
        let (number, isFirst) = queue.withLock { queue in
            queue.changes.append(change)
            queue.last += 1
            defer { queue.isStarted = true }
            return (queue.last, !queue.isStarted)
        }
        if isFirst { start() }
        semaphore.signal()
        return number
    }

    /// Tries again what could not be written.
    func tryAgain() { semaphore.signal() }

    /// Ends the thread once everything has been tried.
    func end() {
        queue.withLock { $0.isEnding = true }
        semaphore.signal()
    }

    private func start() {
        let context = Unmanaged.passRetained(self).toOpaque()
        var handle = pthread_t()
        let status = pthread_create(
            &handle, nil,
            { context in
                Unmanaged<RecordWriter>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context)
        precondition(status == 0, "a process without room for one thread cannot go on")
        pthread_detach(handle)
    }

    // MARK: On the thread

    /// When to try again what could not be done, in seconds.
    private static let retryInterval = 30

    private func run() {
        var database: Database?
        var pending: [StoreChange] = []
        var isLogStale = false
        while true {
            // What could not be done is tried again without anybody's asking: the disk, or a program that was reading.
            semaphore.wait(atMost: pending.isEmpty && !isLogStale ? nil : Self.retryInterval)
            // However many changes have come, they are tried once.
            semaphore.drain()
            let (new, last, isEnding) = queue.withLock { queue in
                defer { queue.changes.removeAll() }
                return (queue.changes, queue.last, queue.isEnding)
            }
            pending = pending.isEmpty ? new : StoreChange.coalesced(pending + new)
            guard !pending.isEmpty || isLogStale else {
                if isEnding { return }
                continue
            }
            do throws(StoreFault) {
                let open = if let database { database } else { try openFile() }
                database = open
                if !pending.isEmpty {
                    try open.apply(pending)
                    // What a row said before is to go as well.
                    isLogStale = true
                    pending = []
                }
                isLogStale = try !open.truncateLog()
                report(last, nil)
            } catch {
                // The next try opens the file anew: it may be another one by then.
                database = nil
                report(last, error)
            }
            if isEnding { return }
        }
    }

    private func openFile() throws(StoreFault) -> Database {
        if let fault = directory.prepare() { throw fault }
        return try file.open(patience: patience)
    }
}

/// A counting semaphore of the C library's.
private final class Semaphore: Sendable {
    private nonisolated(unsafe) let pointer: UnsafeMutablePointer<sem_t>

    init() {
        pointer = .allocate(capacity: 1)
        sem_init(pointer, 0, 0)
    }

    deinit {
        sem_destroy(pointer)
        pointer.deallocate()
    }

    func signal() { sem_post(pointer) }

    func drain() { while sem_trywait(pointer) == 0 {} }

    /// - Parameter seconds: how long to wait; `nil` for ever.
    func wait(atMost seconds: Int?) {
        guard let seconds else {
            while sem_wait(pointer) != 0 && errno == EINTR {}
            return
        }
        var end = timespec()
        // By the system clock, the only one that POSIX has here. Set back, it puts the next try off, no more.
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += seconds
        while sem_timedwait(pointer, &end) != 0 && errno == EINTR {}
    }
}
