import Geolocation

/// Leave to learn the position, up to a level. Only an ``Authorizer`` makes one.
package struct Grant: Sendable, Hashable {
    /// What was asked for, `country` or finer.
    package let requestedLevel: AccuracyLevel
    /// What the user, the agent and the administrator allow at most, whatever was asked for; finer than `none`.
    package let allowedLevel: AccuracyLevel
    /// What made the decision.
    package let decidedBy: DecisionStep

    init(requestedLevel: AccuracyLevel, allowedLevel: AccuracyLevel, decidedBy: DecisionStep) {
        self.requestedLevel = requestedLevel
        self.allowedLevel = allowedLevel
        self.decidedBy = decidedBy
    }

    /// The level that takes effect: never finer than asked for, nor than allowed.
    package var level: AccuracyLevel { min(requestedLevel, allowedLevel) }
}
