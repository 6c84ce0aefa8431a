import EventLoop
import Geolocation

/// Decides who may learn the position, and how precisely; asks the user where nothing else decides.
@ServiceActor
package final class Authorizer {
    /// How long a call waits for an answer: a caller's own limit is 25 s (D-Bus's default), so it hears the reason.
    package static let callLimit = Duration.seconds(22)
    /// How long calls wait for the ceiling of an agent that has just registered.
    package static let ceilingLimit = Duration.seconds(2)

    /// What the configuration says; may be replaced at any time.
    package var policy: AccessPolicy {
        didSet { if policy != oldValue { policyChanged() } }
    }

    /// Called with another ``policy``, before running clients are looked at by it.
    package var onPolicyChange: (@ServiceActor () -> Void)?

    /// Called when running clients may have gained or lost by a change: those of the user, or all of them for `nil`.
    package var onChange: (@ServiceActor (_ userID: UInt32?) -> Void)?

    /// Called when a record of a user has changed, come or gone.
    package var onRecordChange: (@ServiceActor (_ userID: UInt32, _ key: String) -> Void)?

    let clock: any Clock
    let store: any RecordStore
    private let desk: QuestionDesk
    private var roster = AgentRoster()
    /// Ends the first record that ends by itself.
    var expiryTimer: Timer?

    package init(policy: AccessPolicy, store: any RecordStore, clock: any Clock) {
        self.policy = policy
        self.store = store
        self.clock = clock
        desk = QuestionDesk(clock: clock)
        desk.owner = self
        // Sessions end with the machine, whether or not this service was there to see it.
        for userID in store.book.userIDs { sessionEnded(of: userID, begunBefore: bootTime) }
        expireRecords()
    }

    // MARK: Decisions

    /// Decides about a call. Comes back without waiting where nobody has to be asked, else within ``callLimit``.
    package func authorize(
        _ requester: Requester, requesting level: AccuracyLevel
    ) async -> Result<Grant, Denial> {
        let deadline = clock.now + Self.callLimit
        let ceilingDeadline = clock.now + Self.ceilingLimit
        for reading in roster.entries(of: requester.userID).compactMap(\.reading) {
            if case .cancelled = await reading.wait(until: ceilingDeadline) { return .failure(.cancelled) }
        }
        let decision = explain(requester, requesting: level)
        switch decision.verdict {
        case .granted(let grant):
            return await spend(grant, of: requester, requesting: level)
        case .denied(let denial):
            if denial.step == .record { _ = await spendOnce(requester) }
            return .failure(denial)
        case .ask:
            if Task.isCancelled { return .failure(.cancelled) }
            if let limit = store.book.limit(on: requester.application.key, of: requester.userID) {
                return .failure(.tooManyRecords(.init(requester), limit: limit))
            }
            let departure = await desk.ask(requester, requesting: level, until: deadline)
            let outcome = outcome(of: departure, for: requester, requesting: level)
            if case .success(let grant) = outcome { return await spend(grant, of: requester, requesting: level) }
            return outcome
        }
    }

    /// Takes back what allowed no more than this one use. No call is told of a leave that could be used twice.
    private func spend(
        _ grant: Grant, of requester: Requester, requesting level: AccuracyLevel
    ) async -> Result<Grant, Denial> {
        guard grant.onceLevel != nil else { return .success(grant) }
        guard await spendOnce(requester) else { return .failure(.leaveNotSpent(.init(requester))) }
        // Something may have been taken back while the disk was waited for.
        return standing(of: requester, requesting: level, holding: grant) ?? .failure(.leaveNotSpent(.init(requester)))
    }

    /// - Returns: whether it is gone for good, or was never to outlast the service.
    private func spendOnce(_ requester: Requester) async -> Bool {
        let (userID, key) = (requester.userID, requester.application.key)
        guard store.book.record(of: userID, for: key)?.lifetime == .once else { return true }
        store.remove(key, of: userID)
        noteSeen(requester, replacing: true)
        onRecordChange?(userID, key)
        return await store.settled() == nil || !store.wasKept(key, of: userID)
    }

    /// Whether there is leave for one use that nobody has used yet.
    package func hasLeaveForOnce(_ requester: Requester) -> Bool {
        let record = record(of: requester.userID, for: requester.application.key)
        return record?.decision == .allow && record?.lifetime == .once
    }

    /// Counts that an application was let in; the portal is not kept count of.
    package func noteUse(of requester: Requester, at level: AccuracyLevel) {
        guard !requester.isPortal else { return }
        store.note(AccessUse(userID: requester.userID, key: requester.application.key, level: level, day: today))
    }

    /// The day that uses count for.
    package var today: AccessHistory.Day { AccessHistory.Day(of: now) }

    /// What a running client has now: a grant that may have changed, a refusal, or `nil` if the user would have to be
    /// asked.
    ///
    /// - Parameter held: what the client was granted. Leave for this one use goes on, below whatever limits there are.
    package func standing(
        of requester: Requester, requesting level: AccuracyLevel, holding held: Grant? = nil
    ) -> Result<Grant, Denial>? {
        let decision = decide(requester, requesting: level, keepsAnswers: true)
        switch decision.verdict {
        case .granted(let grant):
            return .success(grant.decidedBy == .record ? grant : held?.goingOn(upTo: grant.allowedLevel) ?? grant)
        case .denied(let denial):
            // Leave that was given does not end where others are refused for want of any.
            let isForWant = denial.step == .defaultRule || denial.step == .loginSession
            return (isForWant ? held?.goingOn(upTo: decision.allowed) : nil).map { .success($0) } ?? .failure(denial)
        case .ask(let level, _):
            return (held?.goingOn(upTo: level)).map { .success($0) }
        }
    }

    /// How a call would be decided now, step by step, without asking anybody.
    package func explain(_ requester: Requester, requesting level: AccuracyLevel) -> Decision {
        decide(requester, requesting: level, keepsAnswers: false)
    }

    /// How many questions wait for an answer.
    package var openQuestions: Int { desk.count }

    private func decide(_ requester: Requester, requesting level: AccuracyLevel, keepsAnswers: Bool) -> Decision {
        Decision(
            .init(
                requester: requester, requestedLevel: level, policy: policy,
                userSwitch: record(of: requester.userID, for: AuthorizationRecord.userSwitch),
                ceiling: ceiling(of: requester.userID),
                record: record(of: requester.userID, for: requester.application.key),
                agentID: roster.inCharge(of: requester.userID)?.agent.id, areRecordsLost: store.isIncomplete,
                keepsAnswers: keepsAnswers))
    }

    /// What is stored and still holds; the system clock may have been set since the timer was.
    func record(of userID: UInt32, for key: String) -> AuthorizationRecord? {
        guard let record = store.book.record(of: userID, for: key), !record.hasExpired(at: now) else { return nil }
        return record
    }

    /// Judges anew after the wait: the record, the ceiling or the configuration may have changed during it.
    private func outcome(
        of departure: WaitingRoom<OpenQuestion.Outcome>.Departure, for requester: Requester,
        requesting level: AccuracyLevel
    ) -> Result<Grant, Denial> {
        let subject = Denial.Subject(requester)
        switch departure {
        case .cancelled:
            return .failure(.cancelled)
        case .timedOut:
            return withoutAnswer(.stillAsking(subject), for: requester, requesting: level)
        case .released(.failed(let denial)):
            return withoutAnswer(denial, for: requester, requesting: level)
        case .released(.overtaken):
            return withoutAnswer(.questionExpired(subject), for: requester, requesting: level)
        case .released(.answered(let isAllowed)):
            switch decide(requester, requesting: level, keepsAnswers: true).verdict {
            case .granted(let grant):
                return .success(grant.decided(by: .question))
            case .denied(.refusedByRecord) where !isAllowed:
                return .failure(.refusedByAgent(subject))
            case .denied(let denial):
                return .failure(denial)
            case .ask:
                return .failure(.questionExpired(subject))
            }
        }
    }

    private func withoutAnswer(
        _ denial: Denial, for requester: Requester, requesting level: AccuracyLevel
    ) -> Result<Grant, Denial> {
        switch explain(requester, requesting: level).verdict {
        case .granted(let grant): .success(grant)
        case .denied(let denial): .failure(denial)
        case .ask(_, let consent): consent.map { .success($0) } ?? .failure(denial)
        }
    }

    var now: Timestamp { Timestamp(microseconds: clock.wallTime) }

    // MARK: Agents

    /// The user's ceiling: the lowest that a living agent sent, else the last one that was received, else none at all.
    private func ceiling(of userID: UInt32) -> AccuracyLevel {
        roster.ceiling(of: userID)?.level ?? store.book.ceiling(of: userID)?.level ?? .exact
    }

    /// Whether the agent is there and may be.
    package func isRegistered(_ agent: any Agent) -> Bool { roster.entry(of: agent) != nil }

    /// Whether nothing of the user's may learn any position, by the user's own switch or the desktop's.
    package func isSwitchedOff(_ userID: UInt32) -> Bool {
        let ownSwitch = record(of: userID, for: AuthorizationRecord.userSwitch)
        return ceiling(of: userID) == .none || ownSwitch?.reach == AccuracyLevel.none
    }

    /// Takes an agent on. Calls of its user wait for its ceiling now, until ``ceilingChanged(of:to:)`` or
    /// ``ceilingReadFinished(of:)``, or for ``ceilingLimit``. Registering again keeps the agent's place.
    package func agentRegistered(_ agent: any Agent, from origin: ProcessOrigin) throws(AgentRefusal) {
        try policy.admitAgent(agent.id, from: origin)
        if roster.entry(of: agent) == nil {
            guard roster.entries(of: agent.userID).count < AgentRoster.limit else {
                throw .tooMany(limit: AgentRoster.limit)
            }
            roster.add(agent)
            Log.info("agent \(agent.id) of UID \(agent.userID) registered")
        }
        awaitCeiling(of: agent)
        desk.agentCame(of: agent.userID)
    }

    private func awaitCeiling(of agent: any Agent) {
        roster.update(agent) { entry in
            guard entry.reading == nil else { return }
            entry.reading = WaitingRoom(clock: clock)
            entry.readingLimit = clock.after(Self.ceilingLimit) { [weak self, weak agent] in
                guard let self, let agent else { return }
                ceilingReadFinished(of: agent)
            }
        }
    }

    /// The agent has left the bus.
    package func agentLeft(_ agent: any Agent) {
        let before = ceiling(of: agent.userID)
        dismiss([agent])
        if ceiling(of: agent.userID) != before { changed(agent.userID) }
    }

    /// Removes all of them before any of their questions goes to another agent.
    private func dismiss(_ agents: [any Agent]) {
        for entry in agents.compactMap({ roster.remove($0) }) {
            Log.info("agent \(entry.agent.id) of UID \(entry.agent.userID) is no longer there")
            entry.reading?.release(())
            desk.agentLeft(entry.number, of: entry.agent.userID)
        }
    }

    /// The agent has really sent a ceiling.
    package func ceilingChanged(of agent: any Agent, to level: AccuracyLevel) {
        guard roster.entry(of: agent) != nil else { return }
        let before = ceiling(of: agent.userID)
        roster.update(agent) { $0.ceiling = level }
        rememberCeiling(of: agent.userID)
        ceilingReadFinished(of: agent)
        if ceiling(of: agent.userID) != before { changed(agent.userID) }
    }

    /// The agent's ceiling has been read, or could not be.
    package func ceilingReadFinished(of agent: any Agent) {
        guard let reading = roster.entry(of: agent)?.reading else { return }
        roster.update(agent) {
            $0.reading = nil
            $0.readingLimit = nil
        }
        reading.release(())
        desk.revisit(agent.userID)
    }

    /// Keeps the ceiling for the time without an agent.
    ///
    /// Only when one is received: agents that leave one after the other, as at the end of a session, must not raise it.
    private func rememberCeiling(of userID: UInt32) {
        guard let lowest = roster.ceiling(of: userID) else { return }
        let key = AuthorizationRecord.agentKey(lowest.agentID)
        let old = store.book.ceiling(of: userID)
        guard old?.key != key || old?.level != lowest.level else { return }
        // Without a record nothing is held back, either.
        if old == nil, lowest.level == .exact { return }
        store.store(
            AuthorizationRecord(
                userID: userID, key: key, decision: lowest.level == .none ? .deny : .allow, level: lowest.level,
                author: .agent(id: lowest.agentID), created: now))
        onRecordChange?(userID, key)
    }

    // MARK: Changes

    private func policyChanged() {
        dismiss(roster.all.filter { !policy.agentIDs.contains($0.id) })
        onPolicyChange?()
        changed(nil)
    }

    func changed(_ userID: UInt32?) {
        desk.revisit(userID)
        onChange?(userID)
    }
}

extension Authorizer: QuestionDeskOwner {
    func nextAgent(for userID: UInt32, after tried: Set<UInt64>) -> AgentRoster.Entry? {
        roster.next(for: userID, after: tried)
    }

    func levelToAsk(_ requester: Requester, requesting level: AccuracyLevel) -> AccuracyLevel? {
        guard case .ask(let level, _) = explain(requester, requesting: level).verdict else { return nil }
        return level
    }

    func keep(_ answer: AgentAnswer, of agentID: String, to level: AccuracyLevel, about requester: Requester) async {
        store.store(
            AuthorizationRecord(
                userID: requester.userID, key: requester.application.key,
                decision: answer.isAllowed ? .allow : .deny, level: min(answer.level, level), askedLevel: level,
                author: .agent(id: agentID), lifetime: lifetime(of: answer, about: requester.application),
                created: now))
        recordChanged(requester.application.key, of: requester.userID)
        await store.settled()
    }

    /// Leave for a name that others can bear too (a child of the program, another unnamed sandbox) ends with the session.
    private func lifetime(
        of answer: AgentAnswer, about application: ApplicationIdentity
    ) -> AuthorizationRecord.Lifetime {
        switch application.trust {
        case .flatpak, .snap, .claimed: .forever
        case .host, .unknown: answer.isAllowed ? .session : .forever
        }
    }
}
