import Geolocation

/// Leave to learn the position, up to a level. Only an ``Authorizer`` makes one.
package struct Grant: Sendable, Hashable {
    /// What was asked for, `country` or finer.
    package let requestedLevel: AccuracyLevel
    /// What the user, the agent and the administrator allow at most, whatever was asked for; finer than `none`.
    package let allowedLevel: AccuracyLevel
    /// What made the decision.
    package let decidedBy: DecisionStep
    /// When it ends by itself, by the system clock.
    package let expires: Timestamp?
    /// The level that a person has allowed for this one use, which goes on although nothing is stored of it any more.
    let onceLevel: AccuracyLevel?

    init(
        requestedLevel: AccuracyLevel, allowedLevel: AccuracyLevel, decidedBy: DecisionStep, expires: Timestamp? = nil,
        onceLevel: AccuracyLevel? = nil
    ) {
        self.requestedLevel = requestedLevel
        self.allowedLevel = allowedLevel
        self.decidedBy = decidedBy
        self.expires = expires
        self.onceLevel = onceLevel
    }

    package func hasExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }

    /// The level that takes effect: never finer than asked for, nor than allowed.
    package var level: AccuracyLevel { min(requestedLevel, allowedLevel) }

    /// The same, of this one use, within other limits; `nil` if it is no leave for one use.
    func goingOn(upTo limit: AccuracyLevel) -> Grant? {
        onceLevel.map { onceLevel in
            Grant(
                requestedLevel: requestedLevel, allowedLevel: min(onceLevel, limit), decidedBy: decidedBy,
                onceLevel: onceLevel)
        }
    }

    func decided(by step: DecisionStep) -> Grant {
        Grant(
            requestedLevel: requestedLevel, allowedLevel: allowedLevel, decidedBy: step, expires: expires,
            onceLevel: onceLevel)
    }
}
