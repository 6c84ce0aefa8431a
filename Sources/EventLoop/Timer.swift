/// One action at one time. Ends when it has fired, with ``cancel()``, or with the last reference to it.
@ServiceActor
package final class Timer {
    private var action: (@ServiceActor () -> Void)?

    package init(_ action: @escaping @ServiceActor () -> Void) { self.action = action }

    /// Whether the action is still to come.
    package var isPending: Bool { action != nil }

    package func cancel() { action = nil }

    /// Performs the action, once.
    package func fire() {
        let action = self.action
        self.action = nil
        action?()
    }
}

/// Timers by deadline, earliest first: a binary heap that holds them weakly.
struct TimerQueue {
    private struct Entry {
        let deadline: Duration
        /// Timers of one deadline fire in the order in which they were set.
        let order: UInt64
        weak var timer: Timer?

        func isBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? order < other.order : deadline < other.deadline
        }
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0
    /// At this size the timers that are cancelled or let go are dropped.
    private var cleaningSize = 64

    @ServiceActor
    mutating func insert(_ timer: Timer, at deadline: Duration) {
        heap.append(Entry(deadline: deadline, order: nextOrder, timer: timer))
        nextOrder += 1
        siftUp(heap.count - 1)
        if heap.count >= cleaningSize { dropDead() }
    }

    /// When the next timer is due, on `CLOCK_BOOTTIME`.
    mutating func earliest() -> Duration? {
        while let first = heap.first, first.timer == nil { removeFirst() }
        return heap.first?.deadline
    }

    /// Takes the earliest timer that is due by `now`.
    mutating func popDue(_ now: Duration) -> Timer? {
        guard let deadline = earliest(), deadline <= now else { return nil }
        let timer = heap[0].timer
        removeFirst()
        return timer
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        siftDown(0)
    }

    @ServiceActor
    private mutating func dropDead() {
        heap = heap.filter { $0.timer?.isPending ?? false }.sorted { $0.isBefore($1) }
        cleaningSize = max(64, 2 * heap.count)
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            let left = 2 * index + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
