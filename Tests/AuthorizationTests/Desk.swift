import EventLoop
import Geolocation
import LocationTestSupport

@testable import Authorization

/// An authorizer with a clock that stands still, and what tests do with it.
@ServiceActor
final class Desk {
    let clock = ManualClock()
    let store: HeldStore
    let authorizer: Authorizer
    private(set) var changes: [UInt32?] = []

    static nonisolated let maps = ApplicationIdentity(trust: .flatpak, id: "org.example.Maps")
    /// Who is refused, where nothing else is said.
    static nonisolated let subject = Denial.Subject(application: maps, userID: 1)
    static nonisolated let plain = ApplicationIdentity(trust: .claimed, id: "maps")

    init(_ policy: AccessPolicy = Desk.policy(), store: HeldStore = HeldStore()) {
        self.store = store
        authorizer = Authorizer(policy: policy, store: store, clock: clock)
        authorizer.onChange = { [weak self] in self?.changes.append($0) }
    }

    static nonisolated func policy(
        _ unsandboxedApps: AccessPolicy.UnsandboxedApps = .allow, remembering: Set<String> = []
    ) -> AccessPolicy {
        AccessPolicy(
            unsandboxedApps: unsandboxedApps, agentIDs: ["shell", "other", "third"], rememberingAgentIDs: remembering)
    }

    static nonisolated func requester(
        _ application: ApplicationIdentity = maps, user: UInt32 = 1, hasSession: Bool = true
    ) -> Requester {
        Requester(userID: user, application: application, isPortal: false, hasSession: hasSession)
    }

    /// Registers an agent that has sent its ceiling.
    func register(_ agent: ScriptedAgent, ceiling: AccuracyLevel = .exact) throws {
        try authorizer.agentRegistered(agent, from: .unnamed)
        authorizer.ceilingChanged(of: agent, to: ceiling)
    }

    /// Another agent that has registered, and has sent that it sets no limit.
    func agent(
        _ id: String = "shell", user: UInt32 = 1, _ behaviour: ScriptedAgent.Behaviour = .thinks
    ) throws -> ScriptedAgent {
        let agent = ScriptedAgent(id, user: user, behaviour)
        try register(agent)
        return agent
    }

    func agent(_ behaviour: ScriptedAgent.Behaviour) throws -> ScriptedAgent { try agent("shell", behaviour) }

    /// Calls the authorizer, and comes back when the call has come to its first wait.
    func call(_ requester: Requester = requester(), _ level: AccuracyLevel = .exact) async -> Call {
        let call = Call()
        call.task = Task.immediate { @ServiceActor [authorizer] in
            call.result = await authorizer.authorize(requester, requesting: level)
        }
        await clock.settle()
        return call
    }

    func setRecord(
        _ decision: AuthorizationRecord.Decision, level: AccuracyLevel = .exact, key: String = maps.key,
        user: UInt32 = 1
    ) async {
        await authorizer.setRecord(
            AuthorizationRecord(
                userID: user, key: key, decision: decision, level: level, author: .user(user),
                created: Timestamp(seconds: 1)))
    }

    func record(_ application: ApplicationIdentity = maps, user: UInt32 = 1) -> AuthorizationRecord? {
        store.book.record(of: user, for: application.key)
    }
}

/// A call to the authorizer that may not have ended.
@ServiceActor
final class Call {
    fileprivate(set) var result: Result<Grant, Denial>?
    fileprivate(set) var task: Task<Void, Never>?

    var level: AccuracyLevel? { try? result?.get().level }
    var denial: Denial? {
        guard case .failure(let denial) = result else { return nil }
        return denial
    }

    /// Waits for the end.
    func end() async -> Result<Grant, Denial>? {
        await task?.value
        return result
    }
}

/// A store whose disk can be made to hang.
@ServiceActor
final class HeldStore: RecordStore {
    private(set) var book: RecordBook
    private(set) var history = AccessHistory()
    /// Whether it has lost records.
    var isIncomplete = false
    var isHeld = false
    /// What keeps anything from being written.
    var fault: StoreFault?
    /// Whether what was stored had been written before.
    var wasKept = true
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ book: RecordBook = RecordBook()) { self.book = book }

    func store(_ record: AuthorizationRecord) { book.store(record) }
    func remove(_ key: String, of userID: UInt32) { book.remove(key, of: userID) }
    func note(_ use: AccessUse) { _ = history.note(use.level, by: use.key, of: use.userID, on: use.day) }
    func forgetUses(of key: String, of userID: UInt32) { history.forget(key, of: userID) }

    func settled() async -> StoreFault? {
        if isHeld { await withCheckedContinuation { waiting.append($0) } }
        return fault
    }

    func wasKept(_ key: String, of userID: UInt32) -> Bool { wasKept }

    func finish() async {}

    func release() {
        isHeld = false
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }
}
