import EventLoop
import Geolocation
import Testing

@testable import Authorization

/// How long questions last, what changes meanwhile, and how many there may be.
@Suite struct QuestionCourseTests {
    init() { EventLoop.startThread() }

    // MARK: Time

    @Test("a second call joins the open question and does not fail the first")
    @ServiceActor
    func joins() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        let calls = [await desk.call(), await desk.call(), await desk.call(Desk.requester(), .city)]

        agent.answer(true)

        #expect(try await calls[0].end()?.get().level == .exact)
        #expect(try await calls[1].end()?.get().level == .exact)
        #expect(try await calls[2].end()?.get().level == .city)
        #expect(agent.asked.count == 1)
    }

    @Test("a caller waits 22 seconds, the question two minutes: a later call joins it and gets the answer")
    @ServiceActor
    func callLimit() async throws {
        let desk = Desk()
        let agent = try desk.agent()

        let first = await desk.call()
        await desk.clock.advance(by: .milliseconds(21_999))
        let early = first.result
        await desk.clock.advance(by: .milliseconds(1))
        let second = await desk.call()
        agent.answer(true)

        #expect(early == nil)
        #expect(first.denial == .stillAsking(Desk.subject))
        #expect(first.denial?.message.hasPrefix("An authorization request is already pending") == true)
        #expect(try await second.end()?.get().level == .exact)
        #expect(agent.asked.count == 1)
    }

    @Test("an answer that comes after its callers have gone is remembered for the next call")
    @ServiceActor
    func answerAfterCallers() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        _ = await desk.call()
        await desk.clock.advance(by: .seconds(60))

        agent.answer(true)
        await desk.clock.settle()
        let next = await desk.call()

        #expect(try next.result?.get().decidedBy == .record)
    }

    @Test("after two minutes the question is withdrawn, and an answer that still comes changes nothing")
    @ServiceActor
    func expired() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        _ = await desk.call()
        await desk.clock.advance(by: .seconds(110))
        let late = await desk.call()

        await desk.clock.advance(by: .seconds(10))
        agent.answer(true)
        await desk.clock.settle()

        #expect(late.denial == .questionExpired(Desk.subject))
        #expect(agent.withdrawn == agent.asked)
        #expect(desk.record()?.decision == .ask)
        #expect(desk.authorizer.openQuestions == 0)
    }

    @Test("an answer to an expired question does not answer the next question about the same application")
    @ServiceActor
    func answerToTheWrongQuestion() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        _ = await desk.call()
        await desk.clock.advance(by: .seconds(120))
        let second = await desk.call()

        agent.answer(0, true)
        await desk.clock.settle()
        let afterOldAnswer = second.result
        agent.answer(1, false)

        #expect(afterOldAnswer == nil)
        #expect(await second.end() == .failure(.refusedByAgent(Desk.subject)))
    }

    @Test("a cancelled call ends at once; its question goes on, and the answer is remembered")
    @ServiceActor
    func cancelledCall() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        let call = await desk.call()

        call.task?.cancel()

        #expect(await call.end() == .failure(.cancelled))
        agent.answer(true)
        await desk.clock.settle()
        #expect(desk.record()?.decision == .allow)
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("a call that was cancelled before it came asks nobody")
    @ServiceActor
    func cancelledBefore() async throws {
        let desk = Desk()
        let agent = try desk.agent(.agrees)

        let task = Task { @ServiceActor in await desk.authorizer.authorize(Desk.requester(), requesting: .exact) }
        task.cancel()

        #expect(await task.value == .failure(.cancelled))
        #expect(agent.asked.isEmpty)
    }

    // MARK: What changes meanwhile

    @Test("a record that the user sets ends the open question, and decides")
    @ServiceActor
    func recordOvertakes() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        let call = await desk.call()

        await desk.setRecord(.allow, level: .city)
        agent.answer(false)

        #expect(try await call.end()?.get().level == .city)
        #expect(agent.withdrawn.count == 1)
        #expect(desk.record()?.author == .user(1))
    }

    @Test("switching off while a question is open refuses the call, and lowering the ceiling limits the answer")
    @ServiceActor
    func ceilingOvertakes() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        let call = await desk.call()
        let weather = await desk.call(Desk.requester(.init(trust: .flatpak, id: "org.example.Weather")))

        desk.authorizer.ceilingChanged(of: agent, to: .city)
        agent.answer(1, true)
        let limited = await weather.end()
        desk.authorizer.ceilingChanged(of: agent, to: .none)

        #expect(try limited?.get().level == .city)
        #expect(await call.end() == .failure(.disabledByAgent(userID: 1)))
    }

    @Test("a user's change while the answer is being stored is what counts")
    @ServiceActor
    func changeWhileStoring() async throws {
        let desk = Desk()
        try desk.register(ScriptedAgent(.agrees))
        desk.store.isHeld = true
        let call = await desk.call()

        let change = Task.immediate { @ServiceActor in await desk.setRecord(.deny) }
        desk.store.release()
        await change.value

        #expect(await call.end() == .failure(.refusedByRecord(Desk.subject)))
    }

    @Test("a refusal names what refuses in the end")
    @ServiceActor
    func switchedOffWhileStoring() async throws {
        let desk = Desk()
        let agent = try desk.agent(.answers(.init(isAllowed: false, level: .none)))
        desk.store.isHeld = true
        let call = await desk.call()

        desk.authorizer.ceilingChanged(of: agent, to: .none)
        desk.store.release()

        #expect(await call.end() == .failure(.disabledByAgent(userID: 1)))
    }

    // MARK: Many

    @Test("a thousand applications at once: 64 questions, the others are refused by name, and every call ends")
    @ServiceActor
    func thousand() async throws {
        let desk = Desk()
        let agent = try desk.agent()
        _ = try desk.agent(user: 2, .agrees)
        var calls: [Call] = []

        for number in 0..<1000 {
            calls.append(await desk.call(Desk.requester(.init(trust: .unknown, id: "app\(number)"))))
        }
        let other = await desk.call(Desk.requester(user: 2))
        await agent.questions(64)
        for index in 0..<64 { agent.answer(index, true) }
        for call in calls { _ = await call.end() }

        #expect(calls.filter { $0.level == .exact }.count == 64)
        #expect(calls.filter { $0.denial == .tooManyQuestions(limit: 64) }.count == 936)
        #expect(other.level == .exact)
        #expect(desk.authorizer.openQuestions == 0)
        #expect(desk.clock.pendingTimers == 0)
    }

    @Test("all users together have no more questions open than the bus lets wait for replies")
    @ServiceActor
    func manyUsers() async throws {
        let desk = Desk()
        for user in 1...3 as ClosedRange<UInt32> { try desk.register(ScriptedAgent(user: user)) }
        var calls: [Call] = []

        for number in 0..<64 {
            for user in [1, 2] as [UInt32] {
                calls.append(await desk.call(Desk.requester(.init(trust: .unknown, id: "app\(number)"), user: user)))
            }
        }
        let third = await desk.call(Desk.requester(user: 3))
        let open = desk.authorizer.openQuestions
        await desk.clock.advance(by: QuestionDesk.lifetime)

        #expect(open == 80)
        #expect(calls.filter { $0.denial == .tooManyQuestionsOfAll(limit: 80) }.count == 48)
        #expect(third.denial == .tooManyQuestionsOfAll(limit: 80))
        #expect(desk.authorizer.openQuestions == 0)
        #expect((await desk.call(Desk.requester(user: 3))).result == nil)
    }

    @Test("a program that names itself anew without end meets a limit by name, and leaves room for sandboxed ones")
    @ServiceActor
    func namesWithoutEnd() async throws {
        let desk = Desk(Desk.policy(.ask))
        let agent = try desk.agent(.agrees)

        var outcomes: [Call] = []
        for number in 0..<1100 {
            outcomes.append(await desk.call(Desk.requester(.init(trust: .claimed, id: "app\(number)"))))
        }
        let first = await desk.call(Desk.requester(.init(trust: .claimed, id: "app0")))
        let sandboxed = await desk.call()
        let other = await desk.call(Desk.requester(.init(trust: .claimed, id: "app1099"), user: 2))

        let limit = RecordBook.maximumSelfNamed
        #expect(outcomes.filter { $0.level == .exact }.count == limit)
        #expect(
            outcomes.last?.denial
                == .tooManyRecords(.init(application: .init(trust: .claimed, id: "app1099"), userID: 1), limit: limit))
        #expect(agent.asked.count == limit + 1)
        #expect(first.level == .exact && sandboxed.level == .exact)
        guard case .tooManyRecords? = other.denial else { return }
        Issue.record("another user has a limit of its own")
    }

    @Test("two users with the same application are asked apart, each by the own agent, and recorded apart")
    @ServiceActor
    func twoUsers() async throws {
        let desk = Desk()
        let first = ScriptedAgent(user: 1, .agrees)
        let second = ScriptedAgent(user: 2, .answers(.init(isAllowed: false, level: .none)))
        try desk.register(first)
        try desk.register(second)

        let mine = await desk.call(Desk.requester(user: 1))
        let theirs = await desk.call(Desk.requester(user: 2))

        #expect(mine.level == .exact)
        #expect(theirs.denial == .refusedByAgent(.init(application: Desk.maps, userID: 2)))
        #expect(first.asked.count == 1 && second.asked.count == 1)
        #expect(desk.authorizer.records(of: 1).allSatisfy { $0.userID == 1 })
        #expect(desk.record(user: 1)?.decision == .allow)
        #expect(desk.record(user: 2)?.decision == .deny)
    }
}
