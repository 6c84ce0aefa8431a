import Geolocation

/// Why a caller gets no position.
package enum Denial: Error, Sendable, Hashable {
    case configuredDenial(Subject)
    /// What was stored about the application may have been a refusal, and cannot be read.
    case recordsLost(Subject)
    /// By the user's own switch.
    case switchedOff(userID: UInt32)
    /// By the ceiling of an agent, there now or remembered.
    case disabledByAgent(userID: UInt32)
    case refusedByRecord(Subject)
    /// Leave for one use that the store cannot forget, and so would give again.
    case leaveNotSpent(Subject)
    case refusedByAgent(Subject)
    case noRuleForSystemUser(Subject)
    case refusedByDefault(Subject)
    case noAgent(Subject)
    case agentFailed(Subject)
    /// The question is still open, and a repeated call joins it.
    case stillAsking(Subject)
    case questionExpired(Subject)
    case tooManyQuestions(limit: Int)
    /// Of all users together.
    case tooManyQuestionsOfAll(limit: Int)
    /// An answer could not be kept, so nobody is asked for one.
    case tooManyRecords(Subject, limit: Int)
    /// The caller gave up; there is nobody to read this.
    case cancelled

    /// Whom a refusal is about.
    package struct Subject: Sendable, Hashable {
        package let application: ApplicationIdentity
        package let userID: UInt32

        package init(application: ApplicationIdentity, userID: UInt32) {
            self.application = application
            self.userID = userID
        }

        init(_ requester: Requester) {
            self.init(application: requester.application, userID: requester.userID)
        }

        fileprivate var disallowed: String { "'\(application.id)' disallowed" }
        fileprivate var disallowedForUser: String { "\(disallowed) for UID \(userID)" }
        fileprivate var grantHint: String { Denial.hint(application.key) }
    }

    /// What somebody can type in to be let in.
    private static func hint(_ key: String) -> String {
        "'busctl call org.whereabouts1.Control /org/whereabouts1/Control org.whereabouts1.Control SetRecord sa{sv} "
            + "\"\(key)\" 1 decision s allow' allows it"
    }

    /// The step that refused; `nil` where the call itself ended.
    package var step: DecisionStep? {
        switch self {
        case .configuredDenial: .configuredDenial
        case .recordsLost: .lostRecords
        case .switchedOff: .userSwitch
        case .disabledByAgent: .agentCeiling
        case .refusedByRecord, .leaveNotSpent: .record
        case .noRuleForSystemUser: .loginSession
        case .refusedByDefault: .defaultRule
        case .refusedByAgent, .noAgent, .agentFailed, .stillAsking, .questionExpired, .tooManyQuestions,
            .tooManyQuestionsOfAll, .tooManyRecords:
            .question
        case .cancelled: nil
        }
    }

    /// The text for the caller: that of GeoClue where it has one, and what can be done about it.
    package var message: String {
        switch self {
        case .configuredDenial(let subject):
            "'\(subject.application.id)' disallowed by configuration for UID \(subject.userID)"
        case .recordsLost(let subject):
            "\(subject.disallowedForUser): stored records were damaged and are lost; \(Self.hint("*"))"
        case .switchedOff(let userID):
            "Geolocation disabled for UID \(userID): the user's own switch is off; \(Self.hint("*"))"
        case .disabledByAgent(let userID):
            "Geolocation disabled for UID \(userID): location is switched off in the settings of the desktop"
        case .refusedByRecord(let subject):
            "\(subject.disallowedForUser): a stored record denies it; \(subject.grantHint)"
        case .leaveNotSpent(let subject):
            "\(subject.disallowedForUser): the leave for one use cannot be marked as used, since decisions cannot be kept; "
                + subject.grantHint
        case .refusedByAgent(let subject):
            "Agent rejected '\(subject.application.id)' for user '\(subject.userID)'. Please ensure that "
                + "'\(subject.application.id)' has installed a valid \(subject.application.id).desktop file."
        case .noRuleForSystemUser(let subject):
            "\(subject.disallowedForUser): no rule for system uid, which has no login session; a section "
                + "'[\(subject.application.id)]' of the configuration allows it"
        case .refusedByDefault(let subject):
            "\(subject.disallowedForUser): the configuration says unsandboxed-apps=deny; \(subject.grantHint)"
        case .noAgent(let subject):
            "\(subject.disallowed), no agent for UID \(subject.userID): nobody is there to ask; \(subject.grantHint)"
        case .agentFailed(let subject):
            "\(subject.disallowedForUser): the agent failed to answer; \(subject.grantHint)"
        case .stillAsking(let subject):
            "An authorization request is already pending: the user has not answered about '\(subject.application.id)' "
                + "yet; another call joins the same question"
        case .questionExpired(let subject):
            "\(subject.disallowedForUser): the user did not answer in time; another call asks again"
        case .tooManyQuestions(let limit):
            "Too many open questions: the user has \(limit) to answer first"
        case .tooManyQuestionsOfAll(let limit):
            "Too many open questions: all users together have \(limit) to answer first"
        case .tooManyRecords(let subject, let limit):
            "\(subject.disallowedForUser): \(limit) decisions about applications like it are kept already; "
                + "'busctl call org.whereabouts1.Control /org/whereabouts1/Control org.whereabouts1.Control RemoveRecord "
                + "sa{sv} KEY 0' forgets one"
        case .cancelled:
            "The call was cancelled"
        }
    }
}
