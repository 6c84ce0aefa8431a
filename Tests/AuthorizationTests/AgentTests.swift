import EventLoop
import Geolocation
import Testing

@testable import Authorization

@Suite struct AgentTests {
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
        #expect(first.denial == .noAgent(Desk.subject))
        #expect(later.allSatisfy { $0 == .noAgent(Desk.subject) })
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

        #expect(await desk.call().denial == .noAgent(Desk.subject))
        desk.authorizer.policy = AccessPolicy(agentWait: .zero, agentIDs: ["shell"])
        #expect(await desk.call().denial == .noAgent(Desk.subject))
        #expect(desk.record()?.author == .nobody)
    }

    @Test("applications that are refused for want of an agent are noted for their user, as many as there is room for")
    @ServiceActor
    func refusedAndNoted() async {
        let desk = Desk(AccessPolicy(agentWait: .zero, agentIDs: ["shell"]))

        for number in 0..<300 {
            let application = ApplicationIdentity(trust: .flatpak, id: "app\(number)")
            _ = await desk.call(Desk.requester(application))
        }

        let noted = desk.store.book.records(of: 1).map(\.key)
        #expect(Set(noted) == Set((0..<RecordBook.maximumUndecided).map { "flatpak:app\($0)" }))
    }

    @Test("users without a session are refused at once, also where an agent of theirs could be asked")
    @ServiceActor
    func noSession() async throws {
        let desk = Desk()
        let agent = try desk.agent(.agrees)

        let call = await desk.call(Desk.requester(hasSession: false))

        #expect(call.denial == .noRuleForSystemUser(Desk.subject))
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
        let (first, second) = (try desk.agent(.agrees), try desk.agent("other", .agrees))
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
        let (first, second) = (try desk.agent(), try desk.agent("other"))
        let call = await desk.call()

        desk.authorizer.agentLeft(first)
        await second.questions(1)
        first.answer(true)
        await desk.clock.settle()
        let afterDeadAnswer = call.result
        second.answer(false)

        #expect(afterDeadAnswer == nil)
        #expect(await call.end() == .failure(.refusedByAgent(Desk.subject)))
    }

    @Test(
        "the bus's word that an agent is gone passes the question on, whether it comes before or after the agent left")
    @ServiceActor
    func goneInEitherOrder() async throws {
        for isErrorFirst in [true, false] {
            let desk = Desk()
            let (first, second) = (try desk.agent(), try desk.agent("other", .agrees))
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
        let agent = try desk.agent()
        let call = await desk.call()
        await desk.clock.advance(by: .seconds(10))

        desk.authorizer.agentLeft(agent)
        await desk.clock.advance(by: .seconds(4))
        let early = call.result
        await desk.clock.advance(by: .seconds(1))

        #expect(early == nil)
        #expect(call.denial == .noAgent(Desk.subject))
    }

    @Test("a replacement that comes in time answers the question of the one that died")
    @ServiceActor
    func replacement() async throws {
        let desk = Desk()
        let agent = try desk.agent()
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
        let agent = try desk.agent(.isGone)

        let call = await desk.call()
        await desk.clock.advance(by: .seconds(5))
        agent.behaviour = .agrees
        let next = await desk.call()

        #expect(call.denial == .noAgent(Desk.subject))
        #expect(next.level == .exact)
        #expect(agent.asked.count == 2)
    }

    @Test("an agent's leaving does not touch a question that has gone on to another one")
    @ServiceActor
    func leftWithoutQuestion() async throws {
        let desk = Desk()
        let (first, second) = (try desk.agent(.isGone), try desk.agent("other"))
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
        let agent = try desk.agent(.agrees)

        let call = Task.immediate { @ServiceActor in
            await desk.authorizer.authorize(Desk.requester(), requesting: .exact)
        }
        await desk.setRecord(.allow, level: .city)

        #expect(try await call.value.get().level == .city)
        await desk.clock.settle()
        #expect(agent.asked.isEmpty)
    }
}
