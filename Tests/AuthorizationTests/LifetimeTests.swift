import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import Authorization

/// How long decisions hold.
@Suite struct LifetimeTests {
    init() { EventLoop.startThread() }

    private static let user: UInt32 = 1

    @ServiceActor
    private func set(
        _ desk: Desk, _ lifetime: AuthorizationRecord.Lifetime, _ decision: AuthorizationRecord.Decision = .allow,
        level: AccuracyLevel = .exact, for seconds: Int64? = nil
    ) async {
        let now = desk.clock.wallTime
        await desk.authorizer.setRecord(
            AuthorizationRecord(
                userID: Self.user, key: Desk.maps.key, decision: decision, level: level, author: .user(1),
                lifetime: lifetime, expires: seconds.map { Timestamp(microseconds: now + $0 * 1_000_000) },
                created: Timestamp(microseconds: now)))
    }

    @ServiceActor
    private func isRefusedForWantOfAnAgent(_ desk: Desk) async -> Bool {
        let call = await desk.call()
        await desk.clock.advance(by: desk.authorizer.policy.agentWait)
        guard case .noAgent? = call.denial else { return false }
        return true
    }

    // MARK: Once

    @Test("leave for once is good for one Start, is gone from the store before that is told, and is then asked about")
    @ServiceActor
    func once() async {
        let desk = Desk()
        await set(desk, .once)
        desk.store.isHeld = true

        let first = await desk.call()
        let whileWriting = (first.result, desk.record()?.decision)
        desk.store.release()
        _ = await first.end()

        #expect(whileWriting.0 == nil)
        #expect(whileWriting.1 == .ask)
        #expect(first.level == .exact)
        #expect(await isRefusedForWantOfAnAgent(desk))
    }

    @Test("leave for once that cannot be marked as used is not given, unless it was never to outlast the service")
    @ServiceActor
    func unspendable() async {
        let desk = Desk()
        await set(desk, .once)
        desk.store.fault = StoreFault(reason: .full, detail: "")

        let refused = await desk.call()
        await set(desk, .once)
        desk.store.wasKept = false
        let given = await desk.call()

        #expect(refused.denial == .leaveNotSpent(.init(application: Desk.maps, userID: Self.user)))
        #expect(refused.denial?.message.contains("cannot be marked as used") == true)
        #expect(given.level == .exact)
        #expect(await isRefusedForWantOfAnAgent(desk))
    }

    @Test(
        "what is taken back or limited while leave for once is being marked as used is not given",
        arguments: [AccuracyLevel.none, .city])
    @ServiceActor
    func limitedWhileSpending(ceiling: AccuracyLevel) async throws {
        let desk = Desk()
        let agent = try desk.agent()
        await set(desk, .once)
        desk.store.isHeld = true

        let call = await desk.call()
        desk.authorizer.ceilingChanged(of: agent, to: ceiling)
        desk.store.release()
        _ = await call.end()

        #expect(call.level == (ceiling == .none ? nil : ceiling))
        #expect((call.denial?.step == .agentCeiling) == (ceiling == .none))
    }

    @Test("a refusal for once refuses one Start")
    @ServiceActor
    func refusedOnce() async throws {
        let desk = Desk()
        await set(desk, .once, .deny)

        let first = await desk.call()
        let second = await desk.call(Desk.requester(Desk.plain))
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent)
        let third = await desk.call()

        #expect(first.denial?.step == .record)
        #expect(second.level == .exact)
        #expect(third.level == .exact)
    }

    @Test("what was started with leave for once goes on, below ceilings that change, until it is refused")
    @ServiceActor
    func onceGoesOn() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.thinks)
        try desk.register(agent)
        await set(desk, .once, level: .street)
        let held = try await desk.call().result?.get()
        func level() -> AccuracyLevel? {
            try? desk.authorizer.standing(of: Desk.requester(), requesting: .exact, holding: held)?.get().level
        }

        let before = level()
        desk.authorizer.ceilingChanged(of: agent, to: .city)
        let lowered = level()
        desk.authorizer.ceilingChanged(of: agent, to: .exact)
        let raised = level()
        await desk.setRecord(.deny)

        #expect([before, lowered, raised, level()] == [.street, .city, .street, nil])
    }

    @Test(
        "what was started with leave for once goes on where others are refused, below ceilings that change",
        arguments: [true, false])
    @ServiceActor
    func onceAndRefusal(hasSession: Bool) async throws {
        let desk = Desk(Desk.policy(.deny))
        let agent = ScriptedAgent(.thinks)
        try desk.register(agent)
        let requester = Desk.requester(Desk.plain, hasSession: hasSession)
        await desk.authorizer.setRecord(
            AuthorizationRecord(
                userID: 1, key: Desk.plain.key, decision: .allow, level: .street, author: .user(1), lifetime: .once,
                created: Timestamp(seconds: 1_780_315_200)))
        let held = try await desk.call(requester).result?.get()
        func level() -> AccuracyLevel? {
            try? desk.authorizer.standing(of: requester, requesting: .exact, holding: held)?.get().level
        }

        let before = level()
        desk.authorizer.ceilingChanged(of: agent, to: .city)
        let lowered = level()
        desk.authorizer.ceilingChanged(of: agent, to: .none)
        let off = level()
        desk.authorizer.ceilingChanged(of: agent, to: .exact)
        let raised = level()
        await desk.setRecord(.deny, key: Desk.plain.key)

        #expect([before, lowered, off, raised, level()] == [.street, .city, nil, .street, nil])
    }

    @Test("leave for once gives no more than it says, also where others need no leave")
    @ServiceActor
    func onceAndDefault() async throws {
        let desk = Desk()
        await desk.authorizer.setRecord(
            AuthorizationRecord(
                userID: 1, key: Desk.plain.key, decision: .allow, level: .city, author: .user(1), lifetime: .once,
                created: Timestamp(seconds: 1_780_315_200)))

        let held = try await desk.call(Desk.requester(Desk.plain)).result?.get()
        let standing = desk.authorizer.standing(
            of: Desk.requester(Desk.plain), requesting: .exact, holding: held)

        #expect(held?.level == .city)
        #expect(try standing?.get().level == .city)
    }

    // MARK: Until

    @Test("a decision that ends by itself acts on running clients when it ends, and is forgotten")
    @ServiceActor
    func until() async {
        let desk = Desk()
        await set(desk, .until, for: 3600)
        let during = await desk.call()

        await desk.clock.advance(by: .seconds(3599))
        let changesBefore = desk.changes.count
        await desk.clock.advance(by: .seconds(1))

        #expect(during.level == .exact)
        #expect(desk.changes.count == changesBefore + 1)
        #expect(desk.record() == nil)
        #expect(desk.authorizer.standing(of: Desk.requester(), requesting: .exact) == nil)
        #expect(await isRefusedForWantOfAnAgent(desk))
    }

    @Test("a refusal that ends by itself lets the client be asked about again")
    @ServiceActor
    func deniedUntil() async throws {
        let desk = Desk()
        try desk.register(ScriptedAgent(.agrees))
        await set(desk, .until, .deny, for: 60)
        let before = await desk.call()

        await desk.clock.advance(by: .seconds(60))
        let after = await desk.call()

        #expect(before.denial?.step == .record)
        #expect(after.level == .exact)
    }

    @Test("a system clock that is set past the end ends it at the next look, whenever the timer comes")
    @ServiceActor
    func steppedForward() async throws {
        let desk = Desk()
        await set(desk, .until, for: 3600)
        let grant = try await desk.call().result?.get()

        desk.clock.stepWallTime(by: .seconds(3601))

        #expect(grant?.hasExpired(at: Timestamp(microseconds: desk.clock.wallTime)) == true)
        #expect(desk.authorizer.records(of: 1).isEmpty)
        #expect(desk.authorizer.standing(of: Desk.requester(), requesting: .exact, holding: grant) == nil)
        desk.authorizer.expireRecords()
        #expect(desk.record() == nil)
    }

    @Test("a system clock that is set back does not end it early, and what has ended does not come back")
    @ServiceActor
    func steppedBack() async {
        let desk = Desk()
        await set(desk, .until, for: 3600)
        desk.clock.stepWallTime(by: .seconds(-600))

        await desk.clock.advance(by: .seconds(3600))
        let afterTimer = await desk.call()
        await desk.clock.advance(by: .seconds(600))
        let afterEnd = desk.record()
        desk.clock.stepWallTime(by: .seconds(-3600))

        #expect(afterTimer.level == .exact)
        #expect(afterEnd == nil)
        #expect(await isRefusedForWantOfAnAgent(desk))
    }

    @Test("the earliest end has the timer, and nothing sets one without an end")
    @ServiceActor
    func timers() async {
        let desk = Desk()
        await set(desk, .forever)
        let without = desk.clock.pendingTimers

        await set(desk, .until, for: 3600)
        await set(desk, .until, for: 60)

        #expect(without == 0)
        #expect(desk.clock.pendingTimers == 1)
        await desk.clock.advance(by: .seconds(60))
        #expect(desk.record() == nil)
        #expect(desk.clock.pendingTimers == 0)
    }

    // MARK: Session

    @Test("what holds for the session ends with it, for that user alone; what was decided in the next one stays")
    @ServiceActor
    func session() async {
        let desk = Desk()
        await set(desk, .session)
        await desk.setRecord(.allow, key: "claimed:other")
        let begin = Timestamp(microseconds: desk.clock.wallTime)
        desk.authorizer.sessionEnded(of: 2)
        desk.authorizer.sessionEnded(of: 1, begunBefore: begin)
        let kept = desk.record()

        desk.authorizer.sessionEnded(of: 1, begunBefore: Timestamp(microseconds: begin.microseconds + 1))

        #expect(kept != nil)
        #expect(desk.record() == nil)
        #expect(desk.authorizer.records(of: 1).map(\.key) == ["claimed:other"])
    }

    @Test("what held for a session or for once does not outlive the machine's run; the rest does")
    @ServiceActor
    func boot() async {
        let before = ManualClock(now: .seconds(500))
        func record(_ key: String, _ lifetime: AuthorizationRecord.Lifetime, changed: Int64) -> AuthorizationRecord {
            AuthorizationRecord(
                userID: 1, key: key, decision: .allow, author: .user(1), lifetime: lifetime,
                created: Timestamp(microseconds: before.wallTime + changed * 1_000_000))
        }
        let book = RecordBook([
            record("host:last-run", .session, changed: -501), record("host:once", .once, changed: -501),
            record("host:this-run", .session, changed: -499), record("host:for-ever", .forever, changed: -501),
        ])

        let authorizer = Authorizer(policy: Desk.policy(), store: HeldStore(book), clock: before)

        #expect(authorizer.records(of: 1).map(\.key) == ["host:for-ever", "host:this-run"])
    }

    // MARK: Lost records

    @Test("with records lost nobody gets in for want of one: all are asked about, and the portal is refused")
    @ServiceActor
    func lostRecords() async throws {
        let desk = Desk()
        desk.store.isIncomplete = true
        desk.authorizer.policy.applications["maps"] = .init(isAllowed: true)
        let agent = ScriptedAgent(.agrees)
        let portal = Requester(
            userID: 1, application: ApplicationIdentity(trust: .host, id: "xdg-desktop-portal"), isPortal: true,
            hasSession: true)
        let system = Desk.requester(Desk.plain, user: 7, hasSession: false)

        let alone = await desk.call(Desk.requester(Desk.plain))
        await desk.clock.advance(by: .seconds(5))
        try desk.register(agent)
        let asked = await desk.call(Desk.requester(Desk.plain))

        #expect(alone.denial == .noAgent(.init(application: Desk.plain, userID: 1)))
        #expect(asked.level == .exact)
        #expect(agent.asked.count == 1)
        #expect(await desk.call(portal).denial?.step == .lostRecords)
        #expect(await desk.call(system).level == .exact)
        await desk.setRecord(.allow, key: AuthorizationRecord.userSwitch)
        #expect(await desk.call(portal).level == .exact)
    }
}
