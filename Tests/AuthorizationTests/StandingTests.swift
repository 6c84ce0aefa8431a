import EventLoop
import Geolocation
import Testing

@testable import Authorization

/// What becomes of clients that run.
@Suite struct StandingTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private func standing(
        _ desk: Desk, _ application: ApplicationIdentity = Desk.maps, _ level: AccuracyLevel = .exact
    ) -> Result<Grant, Denial>? {
        desk.authorizer.standing(of: Desk.requester(application), requesting: level)
    }

    @Test("a lowered ceiling makes a running client coarser or stops it, a raised one brings it back")
    @ServiceActor
    func ceiling() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent)
        _ = await desk.call()
        var seen: [Result<AccuracyLevel, Denial>?] = []

        for level in [AccuracyLevel.city, .none, .exact] {
            desk.authorizer.ceilingChanged(of: agent, to: level)
            seen.append(standing(desk)?.map(\.level))
        }

        #expect(seen == [.success(.city), .failure(.disabledByAgent(userID: 1)), .success(.exact)])
        #expect(desk.changes.suffix(3) == [1, 1, 1])
        #expect(agent.asked.count == 1)
    }

    @Test("a ceiling that is sent again changes nothing")
    @ServiceActor
    func sameCeiling() throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.register(agent, ceiling: .city)
        let before = desk.changes.count

        desk.authorizer.ceilingChanged(of: agent, to: .city)

        #expect(before == 1)
        #expect(desk.changes.count == 1)
    }

    @Test("a record that the user changes acts on running clients of that user alone, both ways")
    @ServiceActor
    func record() async {
        let desk = Desk()
        var seen: [AccuracyLevel?] = []

        await desk.setRecord(.deny, key: Desk.plain.key)
        seen.append(try? standing(desk, Desk.plain)?.get().level)
        await desk.setRecord(.allow, level: .city, key: Desk.plain.key)
        seen.append(try? standing(desk, Desk.plain)?.get().level)
        await desk.setRecord(.allow, key: Desk.plain.key)
        seen.append(try? standing(desk, Desk.plain)?.get().level)

        #expect(seen == [nil, .city, .exact])
        #expect(desk.changes == [1, 1, 1])
    }

    @Test("the user's own switch acts on everything of that user, and on nobody else")
    @ServiceActor
    func userSwitch() async {
        let desk = Desk()
        await desk.setRecord(.deny, key: AuthorizationRecord.userSwitch)

        #expect(standing(desk, Desk.plain) == .failure(.switchedOff(userID: 1)))
        #expect(await desk.call(Desk.requester(Desk.plain, user: 2)).level == .exact)
    }

    @Test("a change takes effect before it is on disk")
    @ServiceActor
    func beforeDisk() async {
        let desk = Desk()
        desk.store.isHeld = true

        let change = Task.immediate { @ServiceActor in await desk.setRecord(.deny, key: Desk.plain.key) }
        let changes = desk.changes
        let result = standing(desk, Desk.plain)
        desk.store.release()
        await change.value

        #expect(changes == [1])
        #expect(result == .failure(.refusedByRecord(.init(application: Desk.plain, userID: 1))))
    }

    @Test("where the user would have to be asked, a running client stands on nothing")
    @ServiceActor
    func needsQuestion() async throws {
        let desk = Desk()
        try desk.register(ScriptedAgent(.agrees))
        _ = await desk.call()
        await desk.authorizer.removeRecord(Desk.maps.key, of: 1)

        #expect(standing(desk) == nil)
    }

    @Test("an agent that remembers is not asked again for clients that run")
    @ServiceActor
    func remembering() async throws {
        let desk = Desk(Desk.policy(remembering: ["shell"]))
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent)
        _ = await desk.call()

        #expect(try standing(desk)?.get().level == .exact)
        #expect(agent.asked.count == 1)
    }

    @Test("a new configuration acts on everybody, and the same one on nobody")
    @ServiceActor
    func policy() {
        let desk = Desk()
        let before = standing(desk, Desk.plain)?.map(\.level)

        desk.authorizer.policy = Desk.policy()
        let changesAfterSame = desk.changes
        desk.authorizer.policy.unsandboxedApps = .deny

        #expect(before == .success(.exact))
        #expect(changesAfterSame.isEmpty)
        #expect(desk.changes == [nil])
        #expect(standing(desk, Desk.plain) == .failure(.refusedByDefault(.init(application: Desk.plain, userID: 1))))
    }

    @Test("an explanation walks the same steps and asks nobody")
    @ServiceActor
    func explain() throws {
        let desk = Desk()
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent, ceiling: .city)

        let decision = desk.authorizer.explain(Desk.requester(), requesting: .exact)

        #expect(decision.verdict == .ask(level: .city, otherwise: nil))
        #expect(decision.findings.last?.step == .question)
        #expect(agent.asked.isEmpty)
    }
}
