import Geolocation

/// One walk through the steps of a decision, with what each of them found.
///
/// The service acts on the verdict; an explanation shows the findings of the very same walk.
package struct Decision: Sendable {
    /// Everything that a decision depends on.
    package struct Facts: Sendable {
        package var requester: Requester
        package var requestedLevel: AccuracyLevel
        package var policy: AccessPolicy
        /// The record `*` of the user.
        package var userSwitch: AuthorizationRecord?
        /// The agents' ceiling; `exact` if none was ever received.
        package var ceiling: AccuracyLevel = .exact
        /// What is stored about the application.
        package var record: AuthorizationRecord?
        /// The id of the agent that would be asked.
        package var agentID: String?
        /// Whether records that there were could not be read.
        package var areRecordsLost = false
        /// Whether a person's answer stands although a new call would be a new question: for clients that run, and for
        /// the call that has just been answered.
        package var keepsAnswers: Bool
    }

    package enum Finding: Sendable, Hashable {
        /// The step has nothing to say about this caller.
        case passed
        case limited(to: AccuracyLevel)
        case granted
        case denied(Denial)
        /// Where nobody answers, the level that a person has consented to before stands, if there is one.
        case mustAsk(otherwise: AccuracyLevel?)
    }

    package enum Verdict: Sendable, Hashable {
        case granted(Grant)
        case denied(Denial)
        /// The user has to be asked about `level`; `otherwise` holds where no answer comes.
        case ask(level: AccuracyLevel, otherwise: Grant?)
    }

    /// What the steps found, up to the one that decided.
    package private(set) var findings: [(step: DecisionStep, finding: Finding)] = []
    package private(set) var verdict: Verdict

    private let facts: Facts
    private let requested: AccuracyLevel
    /// The finest level that the steps so far allow, whatever was asked for.
    private(set) var allowed = AccuracyLevel.exact
    /// Whether the user wants to be asked about this application, whatever the configuration says.
    private var isAskedFor = false

    package init(_ facts: Facts) {
        self.facts = facts
        // As GeoClue does: a client that asks for none may start, and gets a country (contract, section 1.6).
        requested = max(facts.requestedLevel, .country)
        verdict = .denied(.refusedByDefault(.init(facts.requester)))
        for step in DecisionStep.allCases {
            let finding = examine(step)
            findings.append((step, finding))
            switch finding {
            case .passed:
                continue
            case .limited(let level):
                allowed = min(allowed, level)
            case .granted:
                verdict = .granted(grant(allowed, by: step))
                return
            case .denied(let denial):
                verdict = .denied(denial)
                return
            case .mustAsk(let consent):
                let level = min(requested, allowed)
                verdict = .ask(level: level, otherwise: consent.map { grant(min(allowed, $0), by: step) })
                return
            }
        }
    }

    private func grant(_ level: AccuracyLevel, by step: DecisionStep) -> Grant {
        let record = step == .record ? facts.record : nil
        return Grant(
            requestedLevel: requested, allowedLevel: level, decidedBy: step,
            expires: record?.lifetime == .until ? record?.expires : nil,
            onceLevel: record?.lifetime == .once ? record?.level : nil)
    }
}

// MARK: - The steps

extension Decision {
    private var requester: Requester { facts.requester }
    private var subject: Denial.Subject { Denial.Subject(requester) }

    private mutating func examine(_ step: DecisionStep) -> Finding {
        switch step {
        case .configuredDenial:
            isForbidden ? .denied(.configuredDenial(subject)) : .passed
        case .lostRecords:
            examineLoss()
        case .userSwitch:
            limit(facts.userSwitch?.reach, orDeny: .switchedOff(userID: requester.userID))
        case .agentCeiling:
            limit(facts.ceiling, orDeny: .disabledByAgent(userID: requester.userID))
        case .record:
            examineRecord()
        case .configuredAllowance:
            isConfigured ? .granted : .passed
        case .loginSession:
            requester.hasSession ? .passed : .denied(.noRuleForSystemUser(subject))
        case .portal:
            requester.isPortal ? .granted : .passed
        case .question:
            isAsked ? .mustAsk(otherwise: nil) : .passed
        case .defaultRule:
            facts.policy.unsandboxedApps == .deny ? .denied(.refusedByDefault(subject)) : .granted
        }
    }

    private func limit(_ level: AccuracyLevel?, orDeny denial: Denial) -> Finding {
        guard let level, level < .exact else { return .passed }
        return level == .none ? .denied(denial) : .limited(to: level)
    }

    private var isForbidden: Bool {
        facts.policy.rule(for: requester.application)?.permits(requester.userID) == false
    }

    /// What nobody has been asked about again is asked about, until the user says with the switch that all is well.
    private mutating func examineLoss() -> Finding {
        guard facts.areRecordsLost, facts.userSwitch == nil, requester.hasSession else { return .passed }
        // The portal is never asked about, and what the user had allowed it is not known.
        if requester.isPortal { return .denied(.recordsLost(subject)) }
        isAskedFor = true
        return .passed
    }

    private var isConfigured: Bool {
        // What an unnamed sandbox says of itself gets it in nowhere.
        guard requester.application.trust != .unknown, !isAskedFor else { return false }
        return facts.policy.rule(for: requester.application)?.permits(requester.userID) == true
    }

    /// Whether the user is asked about callers of this kind.
    private var isAsked: Bool {
        requester.application.isSandboxed || facts.policy.unsandboxedApps == .ask || isAskedFor
    }

    private mutating func examineRecord() -> Finding {
        guard let record = facts.record, !requester.isPortal, !leavesToAgent(record) else { return .passed }
        switch record.decision {
        case .deny:
            return .denied(.refusedByRecord(subject))
        case .ask:
            if record.author == .nobody { return .passed }
            isAskedFor = true
            return limit(record.level, orDeny: .refusedByRecord(subject))
        case .allow:
            guard record.level > .none else { return .denied(.refusedByRecord(subject)) }
            if wantsMore(than: record) { return .mustAsk(otherwise: record.level) }
            allowed = min(allowed, record.level)
            return .granted
        }
    }

    /// Whether the agent that gave this answer is there and gives it again itself.
    private func leavesToAgent(_ record: AuthorizationRecord) -> Bool {
        guard case .agent(let id) = record.author, id == facts.agentID else { return false }
        return facts.policy.rememberingAgentIDs.contains(id) && canAsk
    }

    /// Whether the caller needs a finer level than the user was asked about, and the user can be asked now.
    private func wantsMore(than record: AuthorizationRecord) -> Bool {
        guard let asked = record.askedLevel, record.level >= asked else { return false }
        return min(requested, allowed) > asked && facts.agentID != nil && canAsk
    }

    private var canAsk: Bool { isAsked && requester.hasSession && !facts.keepsAnswers }
}
