import Geolocation

/// What is stored about one application of one user, about a user's own switch, or about an agent's last ceiling.
package struct AuthorizationRecord: Sendable, Hashable {
    package enum Decision: String, Sendable, Hashable, CaseIterable {
        case allow, deny, ask
    }

    /// How long a record holds.
    package enum Lifetime: String, Sendable, Hashable, CaseIterable {
        /// Until the user's last session ends.
        case session
        /// Until somebody changes it.
        case forever
    }

    /// Whose word the record is.
    package enum Author: Sendable, Hashable {
        /// The user with this id, by hand; 0 for the administrator.
        case user(UInt32)
        /// A person's answer through this agent, or that agent's ceiling.
        case agent(id: String)
        /// Nobody's: the application was seen, and nothing has been decided about it.
        case nobody
    }

    package let userID: UInt32
    /// An application's key, ``userSwitch``, or that of ``agentKey(_:)``.
    package let key: String
    package var decision: Decision
    /// The finest level that `allow` covers.
    package var level: AccuracyLevel
    /// The level that the question showed whose answer this is; `nil` for what was set by hand.
    ///
    /// Consent to all that was asked is no consent to a finer level, nor a refusal of it.
    package var askedLevel: AccuracyLevel?
    package var author: Author
    package var lifetime: Lifetime
    package var created: Timestamp
    package var changed: Timestamp

    /// The key of the user's own switch and ceiling.
    package static let userSwitch = "*"

    private static let agentPrefix = "agent:"

    /// The key under which the last ceiling of an agent is kept.
    package static func agentKey(_ id: String) -> String { agentPrefix + id }

    package init(
        userID: UInt32, key: String, decision: Decision, level: AccuracyLevel = .exact,
        askedLevel: AccuracyLevel? = nil, author: Author, lifetime: Lifetime = .forever, created: Timestamp,
        changed: Timestamp? = nil
    ) {
        self.userID = userID
        self.key = key
        self.decision = decision
        self.level = level
        self.askedLevel = askedLevel
        self.author = author
        self.lifetime = lifetime
        self.created = created
        self.changed = changed ?? created
    }

    /// Whether it is an agent's ceiling.
    package var isCeiling: Bool { key.hasPrefix(Self.agentPrefix) }

    /// The level that it leaves to the caller: `none` where it denies.
    var reach: AccuracyLevel { decision == .deny ? .none : level }
}
