/// What has been learned, kept in memory for a time and up to a number. The oldest goes first.
struct Remembered<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (value: Value, since: Duration)] = [:]
    private let maximumAge: Duration
    private let maximumCount: Int

    init(for maximumAge: Duration, upTo maximumCount: Int) {
        self.maximumAge = maximumAge
        self.maximumCount = maximumCount
    }

    var count: Int { entries.count }

    /// - Parameter now: time since boot.
    func value(for key: Key, at now: Duration) -> Value? {
        guard let entry = entries[key], now - entry.since <= maximumAge else { return nil }
        return entry.value
    }

    mutating func insert(_ value: Value, for key: Key, at now: Duration) {
        entries[key] = (value, now)
        guard entries.count > maximumCount else { return }
        entries = entries.filter { now - $0.value.since <= maximumAge }
        guard entries.count > maximumCount, let oldest = entries.min(by: { $0.value.since < $1.value.since }) else {
            return
        }
        entries[oldest.key] = nil
    }

    mutating func removeAll() { entries = [:] }
}
