import EventLoop
import Geolocation
import Testing

@testable import Authorization

/// How finely a user lets anybody know, as the agents say.
@Suite struct AgentCeilingTests {
    init() { EventLoop.startThread() }

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

    @Test("an agent that holds nothing back leaves nothing in the store, unless it takes back that it did")
    @ServiceActor
    func unlimited() async throws {
        let (plain, strict) = (Desk(), Desk())
        let agent = ScriptedAgent()

        try plain.register(ScriptedAgent(), ceiling: .exact)
        try strict.register(agent, ceiling: .none)
        strict.authorizer.ceilingChanged(of: agent, to: .exact)
        strict.authorizer.agentLeft(agent)

        #expect(plain.authorizer.records(of: 1).isEmpty)
        #expect(strict.authorizer.records(of: 1).map(\.level) == [.exact])
        #expect(await strict.call(Desk.requester(Desk.plain)).level == .exact)
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
