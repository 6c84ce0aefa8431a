/// Follows whether a receiver still finds itself: the watchdog behind ``SourceReport/lost(source:)``.
///
/// A receiver that is pulled may leave its connection open and say nothing, so only its fixes count (gpsd 3.22 tells
/// nobody when a device stops).
struct FixWatch: Sendable, Equatable {
    enum State: Sendable, Equatable {
        /// No fix yet.
        case waiting
        case live
        /// No fix for ``silentAfter``, or the receiver says that it has none. The last one stays and ages.
        case silent
        /// No fix for ``lostAfter``: the last one no longer counts.
        case lost
    }

    static let silentAfter = Duration.seconds(10)
    static let lostAfter = Duration.seconds(30)

    private(set) var state = State.waiting
    private var lastFix = Duration.zero

    /// - Returns: whether it is the first one, or the first after a loss. Short gaps are nobody's news.
    mutating func fixCame(at now: Duration) -> Bool {
        lastFix = now
        defer { state = .live }
        return state == .waiting || state == .lost
    }

    /// Notes that the receiver says it has no fix.
    mutating func fixDenied() {
        if state == .live { state = .silent }
    }

    /// When ``expire(at:)`` is due.
    var deadline: Duration? {
        switch state {
        case .live: lastFix + Self.silentAfter
        case .silent: lastFix + Self.lostAfter
        case .waiting, .lost: nil
        }
    }

    /// - Returns: the new state, if the time for one has come.
    mutating func expire(at now: Duration) -> State? {
        let before = state
        while let deadline, now >= deadline { state = state == .live ? .silent : .lost }
        return state == before ? nil : state
    }
}
