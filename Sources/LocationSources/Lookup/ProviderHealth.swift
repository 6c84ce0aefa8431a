import Geolocation

/// Why a provider gave no answer that could be used.
struct ProviderTrouble: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// It was not reached, or said nothing.
        case noAnswer
        /// 5xx.
        case serverError
        /// 400: something that was sent is not to its liking.
        case badRequest
        /// 200, with something in it that is no place.
        case wrongContent
        /// 429, or 503.
        case busy
        /// Anything that will not change soon: the key, the address, the right to ask.
        case refusal
        case dailyLimit
    }

    let kind: Kind
    /// For the log.
    let reason: String
    /// In seconds, where the provider said so.
    let retryAfter: UInt32?

    init(_ kind: Kind, _ reason: String, retryAfter: UInt32? = nil) {
        self.kind = kind
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

/// Whether a provider works, and when it may be asked again if not.
///
/// Ichnaea asks for a couple of minutes before a failed request is sent again, and for hours where it still fails (its
/// API, “Errors”). The first waits are shorter, for those who wait for a place, and yet no provider that is down is asked
/// more than three times in a minute.
struct ProviderHealth: Sendable {
    /// The last one since it worked. `nil` if it works.
    private(set) var trouble: ProviderTrouble?

    private var restsUntil: Duration?
    private var failingSince: Duration?
    private var shortWait: Duration?
    private var longWait: Duration?

    /// When it may be asked again; `nil` if it may be now.
    func rest(at now: Duration) -> Duration? {
        guard let restsUntil, restsUntil > now else { return nil }
        return restsUntil
    }

    /// - Returns: whether that is something new.
    mutating func failed(_ trouble: ProviderTrouble, at now: Duration, wallTime: Timestamp) -> Bool {
        let isNew = trouble.kind != self.trouble?.kind
        self.trouble = trouble
        let since = failingSince ?? now
        failingSince = since
        let wait =
            switch trouble.kind {
            case .noAnswer, .serverError, .badRequest, .wrongContent: nextShortWait(failingFor: now - since)
            case .busy:
                if let seconds = trouble.retryAfter {
                    min(max(.seconds(seconds), Self.leastRetryAfter), Self.day)
                } else {
                    nextLongWait()
                }
            case .refusal: nextLongWait()
            case .dailyLimit: Self.untilNextDay(wallTime)
            }
        restsUntil = now + wait
        return isNew
    }

    /// - Returns: whether that is something new.
    mutating func worked() -> Bool {
        defer { self = ProviderHealth() }
        return trouble != nil
    }

    /// The network has changed, so whatever kept it from being reached may be gone.
    ///
    /// - Returns: whether it may be asked earlier than it could before.
    mutating func forgiveNetwork(at now: Duration) -> Bool {
        guard trouble?.kind == .noAnswer else { return false }
        defer { (restsUntil, failingSince, shortWait) = (nil, nil, nil) }
        return rest(at: now) != nil
    }

    // MARK: Waits

    /// So often, and no more, it is asked in the first ten minutes: whoever waits for it gets a place within 30 s
    /// of its return.
    private static let first = Duration.seconds(5)
    private static let usual = Duration.seconds(30)
    private static let patience = Duration.seconds(600)
    private static let longestShort = Duration.seconds(300)

    private static let firstLong = Duration.seconds(300)
    private static let longest = Duration.seconds(7200)

    private static let day = Duration.seconds(86_400)
    private static let leastRetryAfter = Duration.seconds(30)

    private mutating func nextShortWait(failingFor time: Duration) -> Duration {
        let wait =
            if let shortWait {
                time < Self.patience ? Self.usual : min(max(shortWait, Self.usual) * 2, Self.longestShort)
            } else {
                Self.first
            }
        shortWait = wait
        return wait
    }

    private mutating func nextLongWait() -> Duration {
        let wait = longWait.map { min($0 * 2, Self.longest) } ?? Self.firstLong
        longWait = wait
        return wait
    }

    /// Its clock may be a little behind, so it is never tried again at once.
    private static func untilNextDay(_ wallTime: Timestamp) -> Duration {
        let second = (wallTime.seconds % 86_400 + 86_400) % 86_400
        return max(.seconds(86_400 - second), firstLong)
    }
}
