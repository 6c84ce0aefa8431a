import Geolocation

/// Which sources one client's acquisition may use, and how it ends where they have nothing to give.
///
/// For needs of 10 m or finer the receiver comes first and the network is the fallback; for coarser ones it is the other
/// way round. A set place serves any need.
///
/// It has no timer of its own: whoever keeps it looks again at ``nextLook(after:)``, and asks for ``permitted(at:)`` and
/// ``problem(at:)`` then and after each event.
package struct FallbackPolicy: Sendable, Hashable {
    /// What becomes of a need that its first choice of sources does not meet.
    package enum Fallback: Sendable, Hashable {
        /// There is no first choice: every source serves from the start.
        case allow
        /// The others serve where the first choice cannot run, and after the acquisition's time.
        case whenUnavailable
        /// As `whenUnavailable`, and already after a time without a good fix.
        case after(Duration)
        /// Satellites or nothing.
        case never
    }

    /// Why there is no fix. It passes by itself when there is one.
    package enum Problem: Sendable, Hashable {
        /// None of the sources that may serve can run.
        case unavailable
        /// None of them has had a fix in the acquisition's time, which a fallback has for itself once more.
        case timedOut
    }

    package let fallback: Fallback
    /// Metres that a fix's radius may have to be a good one; 0 for the best there is, which any receiver's is.
    package let accuracy: Double
    /// How long an acquisition may take. `nil`: as long as it likes.
    package let timeout: Duration?

    /// The kinds of the sources that could run now.
    private var available: Set<Fix.Kind> = []
    private var state = State.ended

    private enum State: Sendable, Hashable {
        case ended
        case acquiring(since: Duration, isServed: Bool)
        /// There is a good fix, of the first choice or of the fallback, which then stays as it is.
        case satisfied(byFallback: Bool)
    }

    /// Needs up to this radius in metres are a receiver's.
    private static let finest = 10.0
    /// Needs from this radius in metres on never power a receiver that the network could do without.
    private static let coarse = 1000.0
    /// How long a need between the two waits for the network.
    private static let networkPatience = Duration.seconds(10)

    private static let receivers: Set<Fix.Kind> = [.gnss]
    private static let network: Set<Fix.Kind> = [.wifi, .cell, .ip]
    private static let all = Set(Fix.Kind.allCases)

    package init(_ fallback: Fallback, accuracy: Double, timeout: Duration?) {
        self.fallback = fallback
        self.accuracy = accuracy
        self.timeout = timeout
    }

    /// - Parameter level: as GeoClue's clients name a need. Exact is 50 m.
    package init(_ fallback: Fallback, level: AccuracyLevel, timeout: Duration?) {
        self.init(fallback, accuracy: level.coarseRadius ?? 50, timeout: timeout)
    }

    // MARK: Events

    /// Acquisition begins: the client has its leave. While a person is being asked there is none.
    package mutating func begin(at now: Duration) { state = .acquiring(since: now, isServed: false) }

    /// The machine is awake again, or the fix is lost: what was found before counts no more.
    package mutating func restart(at now: Duration) {
        if state != .ended { begin(at: now) }
    }

    /// Acquisition ends with the client.
    package mutating func end() { state = .ended }

    /// Sources have come or gone.
    package mutating func availabilityChanged(to kinds: Set<Fix.Kind>) { available = kinds }

    /// A fix has come.
    ///
    /// - Returns: whether it may be given to the client. One that is not good enough may be, and ends nothing.
    package mutating func take(_ fix: Fix, at now: Duration) -> Bool {
        guard state != .ended, permitted(at: now).contains(fix.kind) else { return false }
        if isGood(fix) {
            state = .satisfied(byFallback: isFallingBack(at: now) && !firstChoice.contains(fix.kind))
        } else if case .acquiring(let since, _) = state {
            state = .acquiring(since: since, isServed: true)
        }
        return true
    }

    private func isGood(_ fix: Fix) -> Bool {
        // What somebody has set is as good as it gets, and so is a receiver's for whoever wants the best.
        if fix.kind == .fixed || accuracy == 0 && fix.kind == .gnss { return true }
        return fix.horizontalAccuracy.map { $0 <= accuracy } ?? false
    }

    // MARK: What follows

    /// The kinds of sources that may run and serve.
    package func permitted(at now: Duration) -> Set<Fix.Kind> {
        if fallback == .allow || fallback != .never && isFallingBack(at: now) { return Self.all }
        // The time zone costs nothing, but nobody waits for it.
        return isReceiverFirst ? firstChoice : firstChoice.union([.timezone])
    }

    /// Why the client has nothing; `nil` while it may hope, or has something.
    package func problem(at now: Duration) -> Problem? {
        guard case .acquiring(let since, let isServed) = state, !isServed else { return nil }
        guard !available.isDisjoint(with: permitted(at: now)) else { return .unavailable }
        guard let patience, now - since >= patience else { return nil }
        return .timedOut
    }

    /// When ``permitted(at:)`` or ``problem(at:)`` may be another one although nothing has happened.
    package func nextLook(after now: Duration) -> Duration? {
        guard case .acquiring(let since, _) = state else { return nil }
        return [fallbackDelay, patience].compactMap { $0 }.map { since + $0 }.filter { $0 > now }.min()
    }

    /// How long there may be no fix at all.
    private var patience: Duration? { timeout.map { $0 + (fallbackDelay ?? .zero) } }

    private var isReceiverFirst: Bool { fallback == .never || accuracy <= Self.finest }

    private var firstChoice: Set<Fix.Kind> {
        (isReceiverFirst ? Self.receivers : Self.network).union([.fixed])
    }

    /// Whether the first choice cannot run, or has had its chance.
    private func isFallingBack(at now: Duration) -> Bool {
        if available.isDisjoint(with: firstChoice) { return true }
        switch state {
        case .ended: return false
        case .satisfied(let byFallback): return byFallback
        case .acquiring(let since, _): return fallbackDelay.map { now - since >= $0 } ?? false
        }
    }

    /// How long the first choice alone is waited for; `nil` for ever.
    private var fallbackDelay: Duration? {
        switch fallback {
        case .allow, .never: nil
        case .after(let delay): [delay, timeout].compactMap { $0 }.min()
        case .whenUnavailable:
            if isReceiverFirst { timeout } else { accuracy < Self.coarse ? Self.networkPatience : nil }
        }
    }
}
