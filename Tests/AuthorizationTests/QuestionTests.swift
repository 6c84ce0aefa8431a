import EventLoop
import Geolocation
import Testing

@testable import Authorization

@Suite struct QuestionTests {
    init() { EventLoop.startThread() }

    @Test("a call that nobody has to be asked about is decided before it waits for anything")
    @ServiceActor
    func decidedAtOnce() async {
        let desk = Desk()
        await desk.setRecord(.allow)
        var result: Result<Grant, Denial>?

        let task = Task.immediate { @ServiceActor in
            result = await desk.authorizer.authorize(Desk.requester(), requesting: .exact)
        }

        #expect(result == .success(.init(requestedLevel: .exact, allowedLevel: .exact, decidedBy: .record)))
        await task.value
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("the agent is asked once, by id and level, and its yes is a grant that is remembered")
    @ServiceActor
    func yes() async throws {
        let desk = Desk()
        let agent = try desk.agent(.agrees)

        let first = await desk.call()
        desk.authorizer.agentLeft(agent)
        let second = await desk.call()

        #expect(try first.result?.get().decidedBy == .question)
        #expect(try second.result?.get().decidedBy == .record)
        #expect(agent.asked.map(\.application.id) == ["org.example.Maps"])
        #expect(agent.asked.map(\.level) == [.exact])
        #expect(desk.record()?.author == .agent(id: "shell"))
        #expect(desk.record()?.lifetime == .forever)
        #expect(desk.authorizer.openQuestions == 0)
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("the agent's no is a refusal in GeoClue's words, and is remembered")
    @ServiceActor
    func no() async throws {
        let desk = Desk()
        let agent = try desk.agent(.answers(.init(isAllowed: false, level: .none)))

        let first = await desk.call()
        let second = await desk.call()

        #expect(first.denial == .refusedByAgent(Desk.subject))
        #expect(first.denial?.message.hasPrefix("Agent rejected 'org.example.Maps' for user '1'.") == true)
        #expect(second.denial == .refusedByRecord(Desk.subject))
        #expect(agent.asked.count == 1)
    }

    @Test("after a record is forgotten the next call is exactly one new question")
    @ServiceActor
    func forgotten() async throws {
        let desk = Desk()
        let agent = try desk.agent(.agrees)
        _ = await desk.call()

        await desk.authorizer.removeRecord(Desk.maps.key, of: 1)
        _ = await desk.call()
        _ = await desk.call()

        #expect(agent.asked.count == 2)
    }

    @Test("an answer is clamped to what was asked, and that to the ceiling")
    @ServiceActor
    func clamped() async throws {
        let desk = Desk()
        let agent = ScriptedAgent(.answers(.init(isAllowed: true, level: .exact)))
        try desk.register(agent, ceiling: .street)
        let weather = Desk.requester(.init(trust: .flatpak, id: "org.example.Weather"))

        let exact = await desk.call()
        let city = await desk.call(weather, .city)

        #expect(agent.asked.map(\.level) == [.street, .city])
        #expect(exact.level == .street && city.level == .city)
        #expect(desk.record()?.level == .street)
        #expect(desk.record(weather.application)?.level == .city)
    }

    @Test("an agent may allow less than was asked, and is not asked again about more")
    @ServiceActor
    func lessThanAsked() async throws {
        let desk = Desk()
        let agent = try desk.agent(.answers(.init(isAllowed: true, level: .city)))

        let first = await desk.call()
        let second = await desk.call()

        #expect(first.level == .city && second.level == .city)
        #expect(agent.asked.count == 1)
    }

    @Test("a finer need than the one answered is asked about; while nobody answers, the old answer holds")
    @ServiceActor
    func finerNeed() async throws {
        let desk = Desk()
        let agent = try desk.agent(.agrees)
        _ = await desk.call(Desk.requester(), .city)
        agent.behaviour = .thinks

        let unanswered = await desk.call()
        await desk.clock.advance(by: Authorizer.callLimit)
        let joined = await desk.call()
        agent.answer(1, true)

        #expect(unanswered.level == .city)
        #expect(
            await joined.end() == .success(.init(requestedLevel: .exact, allowedLevel: .exact, decidedBy: .question)))
        #expect(agent.asked.map(\.level) == [.city, .exact])
    }

    @Test("an agent that allows a level of none has not answered, and nothing is remembered")
    @ServiceActor
    func contradiction() async throws {
        let desk = Desk()
        try desk.register(ScriptedAgent(.answers(.init(isAllowed: true, level: .none))))

        let call = await desk.call()

        #expect(call.denial == .agentFailed(Desk.subject))
        #expect(desk.record()?.decision == .ask)
    }

    @Test("an agent's error ends the question as refused, which is no decision: the next call asks again")
    @ServiceActor
    func error() async throws {
        let desk = Desk()
        let agent = try desk.agent(.fails)

        let first = await desk.call()
        agent.behaviour = .agrees
        let second = await desk.call()

        #expect(first.denial == .agentFailed(Desk.subject))
        #expect(second.level == .exact)
    }

    @Test("leave for a name that others can bear ends with the session, a refusal does not")
    @ServiceActor
    func sessionLifetime() async throws {
        let desk = Desk(Desk.policy(.ask))
        let agent = try desk.agent(.agrees)
        let host = ApplicationIdentity(trust: .host, id: "maps")
        let hidden = ApplicationIdentity(trust: .unknown, id: "maps")
        _ = await desk.call(Desk.requester(host))
        _ = await desk.call(Desk.requester(Desk.plain))
        agent.behaviour = .answers(.init(isAllowed: false, level: .none))
        _ = await desk.call(Desk.requester(hidden))

        desk.authorizer.sessionEnded(of: 1)

        #expect(desk.record(host) == nil)
        #expect(desk.record(Desk.plain)?.decision == .allow)
        #expect(desk.record(hidden)?.decision == .deny)
    }

    @Test("an agent that remembers is asked each time it is there; our record serves only in its absence")
    @ServiceActor
    func remembering() async throws {
        let desk = Desk(Desk.policy(remembering: ["shell"]))
        let agent = try desk.agent(.agrees)

        _ = await desk.call()
        agent.behaviour = .answers(.init(isAllowed: false, level: .none))
        let second = await desk.call()
        agent.behaviour = .fails
        let third = await desk.call()
        desk.authorizer.agentLeft(agent)
        let alone = await desk.call()

        #expect(second.denial == .refusedByAgent(Desk.subject))
        #expect(third.denial == .agentFailed(Desk.subject))
        #expect(alone.denial == .refusedByRecord(Desk.subject))
        #expect(agent.asked.count == 3)
    }

    @Test("an answer is acted on once it will last, and holds for running clients at once")
    @ServiceActor
    func storedFirst() async throws {
        let desk = Desk()
        _ = try desk.agent(.agrees)
        desk.store.isHeld = true

        let call = await desk.call()
        let before = call.result
        let changes = desk.changes
        desk.store.release()

        #expect(before == nil)
        #expect(changes == [1])
        #expect(try await call.end()?.get().level == .exact)
    }
}
