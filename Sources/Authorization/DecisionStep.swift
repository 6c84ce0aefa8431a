/// The steps of a decision, in their order. The first that grants, refuses or wants to ask decides; one that limits
/// passes on what is left.
package enum DecisionStep: String, Sendable, Hashable, CaseIterable {
    /// The configuration's rule for the application says no (`allowed=false`, or the user is not in its list).
    case configuredDenial = "configured-denial"
    /// Records were lost, so that nobody gets in for want of one that might have refused.
    case lostRecords = "lost-records"
    /// The user's own switch and ceiling: the record `*`.
    case userSwitch = "user-switch"
    /// The lowest ceiling of the user's agents, or the last one that was received.
    case agentCeiling = "agent-ceiling"
    /// What is stored about the application.
    case record
    /// The configuration's rule for the application says yes (`allowed=true`).
    case configuredAllowance = "configured-allowance"
    /// Users without a login session get nothing but what a record or the configuration allows.
    case loginSession = "login-session"
    /// The portal, whose own store decides for the applications behind it.
    case portal
    /// Ask the user.
    case question
    /// The rule for callers about whom nobody is asked.
    case defaultRule = "default"
}
