import EventLoop
import Geolocation
import Testing

@testable import Authorization

@Suite struct AgentTests {
    private static let subject = Denial.Subject(application: Desk.maps, userID: 1)

    init() { EventLoop.startThread() }

    // MARK: Waiting for one

    @Test("without an agent a call is refused after the agent wait, with the cause; later ones at once")
    @ServiceActor
    func noAgent() async throws {
        let desk = Desk()

        let first = await desk.call()
        await desk.clock.advance(by: .milliseconds(4_999))
        let early = first.result
        await desk.clock.advance(by: .milliseconds(1))
        var later: [Denial?] = []
        for _ in 0..<100 { later.append(await desk.call().denial) }

        #expect(early == nil)
        #expect(first.denial == .noAgent(Self.subject))
        #expect(later.allSatisfy { $0 == .noAgent(Self.subject) })
        let message = try #require(first.denial?.message)
        #expect(message.hasPrefix("'org.example.Maps' disallowed, no agent for UID 1"))
        #expect(message.contains("flatpak:org.example.Maps") && !message.contains("switched off"))
        #expect(desk.record()?.decision == .ask && desk.record()?.author == .nobody)
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("a user's vain wait is not another user's, and ends when an agent registers")
    @ServiceActor
    func vainWaitEnds() async throws {
        let desk = Desk()
        _ = await desk.call()
        await desk.clock.advance(by: .seconds(5))

        let neighbour = await desk.call(Desk.requester(user: 2))
        try desk.register(ScriptedAgent(.agrees))
        let again = await desk.call()

        #expect(neighbour.result == nil)
        #expect(again.level == .exact)
    }

    @Test("after an agent has come and gone, calls wait for one again")
    @ServiceActor
    func cameAndWent() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        _ = await desk.call()
        await desk.clock.advance(by: .seconds(5))
        try desk.register(agent)
        desk.authorizer.agentLeft(agent)

        let call = await desk.call()

        #expect(call.result == nil)
    }

    @Test("an agent that comes during the wait is asked once, and a second call in between harms nobody")
    @ServiceActor
    func loginRace() async throws {
        let desk = Desk()
        let first = await desk.call()
        await desk.clock.advance(by: .seconds(3))
        let second = await desk.call()
        let agent = ScriptedAgent()

        try desk.register(agent)
        await agent.questions(1)
        await desk.clock.advance(by: .seconds(1))
        agent.answer(true)

        #expect(try await first.end()?.get().level == .exact)
        #expect(try await second.end()?.get().level == .exact)
        #expect(agent.asked.count == 1)
    }

    @Test("nobody waits for an agent where the configuration lists none, or leaves no time to wait")
    @ServiceActor
    func noAgentPossible() async {
        let desk = Desk(AccessPolicy(agentIDs: []))

        #expect(await desk.call().denial == .noAgent(Self.subject))
        desk.authorizer.policy = AccessPolicy(agentWait: .zero, agentIDs: ["shell"])
        #expect(await desk.call().denial == .noAgent(Self.subject))
    }

    @Test("users without a session are refused at once, also where an agent of theirs could be asked")
    @ServiceActor
    func noSession() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent)

        let call = await desk.call(Desk.requester(hasSession: false))

        #expect(call.denial == .noRuleForSystemUser(Self.subject))
        #expect(call.denial?.message.contains("no rule for system uid") == true)
        #expect(agent.asked.isEmpty)
    }

    // MARK: Coming and going

    @Test("only listed, unsandboxed programs may be agents")
    @ServiceActor
    func admission() {
        let desk = Desk()

        #expect(throws: AgentRefusal.notListed(id: "evil")) {
            try desk.authorizer.agentRegistered(ScriptedAgent("evil"), from: .unnamed)
        }
        for origin in [ProcessOrigin.flatpak(id: "x"), .snap(name: "x"), .unknown] {
            #expect(throws: AgentRefusal.sandboxed(id: "shell")) {
                try desk.authorizer.agentRegistered(ScriptedAgent(), from: origin)
            }
        }
        #expect(AgentRefusal.notListed(id: "evil").message == "evil not allowed to act as agent")
    }

    @Test("a user has at most sixteen agents, and one that registers again is not counted twice")
    @ServiceActor
    func agentLimit() throws {
        let desk = Desk()
        let agents = (0..<16).map { _ in ScriptedAgent() }
        for agent in agents { try desk.register(agent) }

        try desk.register(agents[0])
        try desk.register(ScriptedAgent(user: 2))

        #expect(throws: AgentRefusal.tooMany(limit: 16)) { try desk.register(ScriptedAgent()) }
    }

    @Test("the first living agent stays in charge, also when it registers again; later ones queue behind it")
    @ServiceActor
    func firstInCharge() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(.agrees), ScriptedAgent("other", .agrees))
        try desk.register(first)
        try desk.register(second)
        try desk.register(first)

        _ = await desk.call()
        await desk.authorizer.removeRecord(Desk.maps.key, of: 1)
        desk.authorizer.agentLeft(first)
        _ = await desk.call()

        #expect(first.asked.count == 1 && second.asked.count == 1)
    }

    @Test("when the agent dies with a question, the next one is asked, and only the next one's answer counts")
    @ServiceActor
    func passedOn() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(), ScriptedAgent("other"))
        try desk.register(first)
        try desk.register(second)
        let call = await desk.call()

        desk.authorizer.agentLeft(first)
        await second.questions(1)
        first.answer(true)
        await desk.clock.settle()
        let afterDeadAnswer = call.result
        second.answer(false)

        #expect(afterDeadAnswer == nil)
        #expect(await call.end() == .failure(.refusedByAgent(Self.subject)))
    }

    @Test(
        "the bus's word that an agent is gone passes the question on, whether it comes before or after the agent left")
    @ServiceActor
    func goneInEitherOrder() async throws {
        for isErrorFirst in [true, false] {
            let desk = Desk()
            let (first, second) = (ScriptedAgent(), ScriptedAgent("other", .agrees))
            try desk.register(first)
            try desk.register(second)
            let call = await desk.call()

            if isErrorFirst { first.hangUp() }
            await desk.clock.settle()
            desk.authorizer.agentLeft(first)
            first.hangUp()

            #expect(try await call.end()?.get().level == .exact)
            #expect(second.asked.count == 1)
        }
    }

    @Test("when the only agent dies, the question waits for another one, and ends in vain after that")
    @ServiceActor
    func lastOneDies() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.register(agent)
        let call = await desk.call()
        await desk.clock.advance(by: .seconds(10))

        desk.authorizer.agentLeft(agent)
        await desk.clock.advance(by: .seconds(4))
        let early = call.result
        await desk.clock.advance(by: .seconds(1))

        #expect(early == nil)
        #expect(call.denial == .noAgent(Self.subject))
    }

    @Test("a replacement that comes in time answers the question of the one that died")
    @ServiceActor
    func replacement() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.register(agent)
        let call = await desk.call()
        desk.authorizer.agentLeft(agent)
        await desk.clock.advance(by: .seconds(2))

        try desk.register(ScriptedAgent(.agrees))

        #expect(try await call.end()?.get().level == .exact)
    }

    @Test("an agent that says it is gone but stays is asked again by the next call only")
    @ServiceActor
    func pretender() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.isGone)
        try desk.register(agent)

        let call = await desk.call()
        await desk.clock.advance(by: .seconds(5))
        agent.behaviour = .agrees
        let next = await desk.call()

        #expect(call.denial == .noAgent(Self.subject))
        #expect(next.level == .exact)
        #expect(agent.asked.count == 2)
    }

    @Test("an agent's leaving does not touch a question that has gone on to another one")
    @ServiceActor
    func leftWithoutQuestion() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(.isGone), ScriptedAgent("other"))
        try desk.register(first)
        try desk.register(second)
        let call = await desk.call()

        desk.authorizer.agentLeft(first)
        second.answer(true)

        #expect(try await call.end()?.get().level == .exact)
        #expect(second.asked.count == 1)
    }

    @Test("an agent that the configuration lists no more is dropped")
    @ServiceActor
    func delisted() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(), ScriptedAgent("third"))
        let last = ScriptedAgent("other", .agrees)
        for agent in [first, second, last] { try desk.register(agent) }
        let call = await desk.call()

        desk.authorizer.policy.agentIDs = ["other"]

        #expect(try await call.end()?.get().level == .exact)
        #expect(second.asked.isEmpty)
        #expect(last.asked.count == 1)
    }

    @Test("a question that is taken back before the agent has heard of it is never put")
    @ServiceActor
    func takenBack() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.agrees)
        try desk.register(agent)

        let call = Task.immediate { @ServiceActor in
            await desk.authorizer.authorize(Desk.requester(), requesting: .exact)
        }
        await desk.setRecord(.allow, level: .city)

        #expect(try await call.value.get().level == .city)
        await desk.clock.settle()
        #expect(agent.asked.isEmpty)
    }

    // MARK: Ceilings

    @Test("a call right after an agent registered waits for its ceiling")
    @ServiceActor
    func waitsForCeiling() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        let call = await desk.call(Desk.requester(Desk.plain))
        let before = call.result

        desk.authorizer.ceilingChanged(of: agent, to: .none)

        #expect(before == nil)
        #expect(await call.end() == .failure(.disabledByAgent(userID: 1)))
    }

    @Test("a ceiling that cannot be read, or does not come in two seconds, holds up nobody and limits nobody")
    @ServiceActor
    func unreadCeiling() async throws {
        let desk = Desk()
        let (silent, failing) = (ScriptedAgent(), ScriptedAgent(user: 2))
        try desk.authorizer.agentRegistered(silent, from: .unnamed)
        try desk.authorizer.agentRegistered(failing, from: .unnamed)
        let waiting = await desk.call(Desk.requester(Desk.plain))
        let failed = await desk.call(Desk.requester(Desk.plain, user: 2))

        desk.authorizer.ceilingReadFinished(of: failing)
        let failedLevel = try await failed.end()?.get().level
        await desk.clock.advance(by: .milliseconds(1_999))
        let early = waiting.result
        await desk.clock.advance(by: .milliseconds(1))

        #expect(failedLevel == .exact)
        #expect(early == nil)
        #expect(waiting.level == .exact)
    }

    @Test("an agent that registers over and over does not hold up calls for longer")
    @ServiceActor
    func registersAgain() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        let call = await desk.call(Desk.requester(Desk.plain))

        await desk.clock.advance(by: .seconds(1))
        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        await desk.clock.advance(by: .seconds(1))

        #expect(call.level == .exact)
    }

    @Test("calls that wait for a ceiling hear of it though the agent has registered again")
    @ServiceActor
    func ceilingAfterSecondRegistration() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        let call = await desk.call(Desk.requester(Desk.plain))

        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        desk.authorizer.ceilingChanged(of: agent, to: .city)
        await desk.clock.settle()

        #expect(call.level == .city)
    }

    @Test("a call waits for the ceilings of all agents that are new, in whatever order they come")
    @ServiceActor
    func severalCeilings() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(), ScriptedAgent("other"))
        try desk.authorizer.agentRegistered(first, from: .unnamed)
        try desk.authorizer.agentRegistered(second, from: .unnamed)
        let call = await desk.call(Desk.requester(Desk.plain))

        desk.authorizer.ceilingChanged(of: second, to: .city)
        await desk.clock.settle()
        let early = call.result
        desk.authorizer.ceilingChanged(of: first, to: .street)
        await desk.clock.settle()

        #expect(early == nil)
        #expect(call.level == .city)
    }

    @Test("a call that waits for a ceiling ends when it is cancelled, and when the agent leaves")
    @ServiceActor
    func ceilingWaitEnds() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        let cancelled = await desk.call(Desk.requester(Desk.plain))
        let waiting = await desk.call(Desk.requester(Desk.plain))

        cancelled.task?.cancel()
        let cancelledResult = await cancelled.end()
        desk.authorizer.agentLeft(agent)

        #expect(cancelledResult == .failure(.cancelled))
        #expect(try await waiting.end()?.get().level == .exact)
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("a question that waited for an agent shows no more than that agent's ceiling, and none if that is none")
    @ServiceActor
    func ceilingBeforeQuestion() async throws {
        let desk = Desk()
        let (agent, off) = (ScriptedAgent(.agrees), ScriptedAgent(user: 2))
        let call = await desk.call()
        let neighbour = await desk.call(Desk.requester(user: 2))

        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        await desk.clock.advance(by: .seconds(1))
        let before = agent.asked.count
        desk.authorizer.ceilingChanged(of: agent, to: .street)
        try desk.register(off, ceiling: .none)

        #expect(before == 0)
        #expect(try await call.end()?.get().level == .street)
        #expect(agent.asked.map(\.level) == [.street])
        #expect(await neighbour.end() == .failure(.disabledByAgent(userID: 2)))
        #expect(off.asked.isEmpty)
    }

    @Test("a question does not give up on an agent whose ceiling is still being read")
    @ServiceActor
    func slowCeiling() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.agrees)
        let call = await desk.call()
        await desk.clock.advance(by: .milliseconds(4_500))

        try desk.authorizer.agentRegistered(agent, from: .unnamed)
        await desk.clock.advance(by: .seconds(2))

        #expect(call.level == .exact)
    }

    @Test("of several living agents the lowest ceiling holds, and an agent's goes with it")
    @ServiceActor
    func lowestCeiling() async throws {
        let desk = Desk()
        let (first, second) = (ScriptedAgent(), ScriptedAgent("other"))
        try desk.register(first, ceiling: .street)
        try desk.register(second, ceiling: .city)
        func level() -> AccuracyLevel? {
            try? desk.authorizer.standing(of: Desk.requester(Desk.plain), requesting: .exact)?.get().level
        }

        let both = level()
        let changesBefore = desk.changes.count
        desk.authorizer.agentLeft(second)

        #expect(both == .city)
        #expect(desk.changes.count == changesBefore + 1)
        #expect(level() == .street)
    }

    @Test("the ceiling outlives the agent, also into the next run of the service, until it is forgotten")
    @ServiceActor
    func ceilingOutlives() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        try desk.register(agent, ceiling: .none)
        desk.authorizer.agentLeft(agent)
        let next = Desk(store: HeldStore(desk.store.book))
        let allowed = Desk.requester(Desk.plain)

        let afterLeaving = await desk.call(allowed)
        let afterRestart = await next.call(allowed)
        let listed = next.authorizer.records(of: 1).map(\.key)
        await next.authorizer.removeRecord("agent:shell", of: 1)
        let afterForgetting = await next.call(allowed)

        #expect(afterLeaving.denial == .disabledByAgent(userID: 1))
        #expect(afterRestart.denial == .disabledByAgent(userID: 1))
        #expect(listed == ["agent:shell"])
        #expect(afterForgetting.level == .exact)
    }

    @Test("agents that leave one after the other do not raise the ceiling that stays")
    @ServiceActor
    func endOfSession() async throws {
        let desk = Desk()
        let (shell, other) = (ScriptedAgent(), ScriptedAgent("other"))
        try desk.register(shell, ceiling: .none)
        try desk.register(other, ceiling: .exact)

        desk.authorizer.agentLeft(shell)
        desk.authorizer.agentLeft(other)

        #expect(await desk.call(Desk.requester(Desk.plain)).denial == .disabledByAgent(userID: 1))
    }

    @Test("what an agent says that never registered, or has left, counts for nothing")
    @ServiceActor
    func strangers() async throws {
        let desk = Desk()
        let agent = ScriptedAgent()
        desk.authorizer.ceilingChanged(of: agent, to: .none)
        desk.authorizer.agentLeft(agent)

        #expect(await desk.call(Desk.requester(Desk.plain)).level == .exact)
        #expect(desk.changes.isEmpty)
    }
}
