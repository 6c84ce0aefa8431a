import Geolocation

/// What is stored about one application of one user, about a user's own switch, or about an agent's last ceiling.
package struct AuthorizationRecord: Sendable, Hashable {
    package enum Decision: String, Sendable, Hashable, CaseIterable {
        case allow, deny, ask
    }

    /// What a record allows the application to do, as far as that is told apart.
    package enum UseType: String, Sendable, Hashable, CaseIterable {
        case whenInUse = "when-in-use"
        /// All that the clients of GeoClue's interface can ask for.
        case always
    }

    /// How long a record holds.
    package enum Lifetime: String, Sendable, Hashable, CaseIterable {
        /// For the next Start, at most until the user's last session ends. What was started then goes on.
        case once
        /// Until the user's last session ends.
        case session
        /// Until ``AuthorizationRecord/expires``, by the system clock.
        case until
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
    package var type: UseType
    package var author: Author
    package var lifetime: Lifetime
    /// When it ends by itself, for the lifetime `until`.
    package var expires: Timestamp?
    /// What the application said it needs the position for, as the person who decided was shown it.
    package var reason: String?
    package var created: Timestamp
    package var changed: Timestamp

    /// The key of the user's own switch and ceiling.
    package static let userSwitch = "*"

    private static let agentPrefix = "agent:"

    /// The key under which the last ceiling of an agent is kept.
    package static func agentKey(_ id: String) -> String { agentPrefix + id }

    package init(
        userID: UInt32, key: String, decision: Decision, level: AccuracyLevel = .exact,
        askedLevel: AccuracyLevel? = nil, type: UseType = .always, author: Author, lifetime: Lifetime = .forever,
        expires: Timestamp? = nil, reason: String? = nil, created: Timestamp, changed: Timestamp? = nil
    ) {
        self.userID = userID
        self.key = key
        self.decision = decision
        self.level = level
        self.askedLevel = askedLevel
        self.type = type
        self.author = author
        self.lifetime = lifetime
        self.expires = expires
        self.reason = reason
        self.created = created
        self.changed = changed ?? created
    }

    /// Whether it is an agent's ceiling.
    package var isCeiling: Bool { key.hasPrefix(Self.agentPrefix) }

    /// Whether it is about an application.
    package var isOfApplication: Bool { key != Self.userSwitch && !isCeiling }

    /// Whether the application was seen and nothing has been decided about it.
    package var isUndecided: Bool { decision == .ask && author == .nobody }

    /// Whether it is over by itself.
    package func hasExpired(at now: Timestamp) -> Bool {
        lifetime == .until && expires.map { $0 <= now } ?? true
    }

    /// Whether it ends with the user's session.
    package var isOfSession: Bool { lifetime == .session || lifetime == .once }

    /// The level that it leaves to the caller: `none` where it denies.
    var reach: AccuracyLevel { decision == .deny ? .none : level }
}
