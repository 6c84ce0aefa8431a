import EventLoop
import Geolocation

/// What the desk must know of the world before it puts a question, and whom it gives the answers to.
@ServiceActor
protocol QuestionDeskOwner: AnyObject {
    var policy: AccessPolicy { get }

    func nextAgent(for userID: UInt32, after tried: Set<UInt64>) -> AgentRoster.Entry?

    /// The level to ask about now; `nil` if nobody has to be asked any more.
    func levelToAsk(_ requester: Requester, requesting level: AccuracyLevel) -> AccuracyLevel?

    /// Notes that there is a question about an application, so that its user can decide without being asked.
    ///
    /// - Parameter replacing: whether another one that was noted may go for it.
    func noteSeen(_ requester: Requester, replacing: Bool)

    /// Stores an answer that makes sense; comes back when it may be acted on.
    func keep(_ answer: AgentAnswer, of agentID: String, to level: AccuracyLevel, about requester: Requester) async
}

/// The open questions: one for each user and application, passed from agent to agent until one answers.
@ServiceActor
final class QuestionDesk {
    /// How many questions a user may have open.
    static let limit = 64
    /// How many all users together may: on the stock bus 128 calls of one connection wait for replies, and not every one
    /// of them is a question (dbus-daemon(1), `max_replies_per_connection`).
    static let overallLimit = 80
    /// How long a question stays open, whoever still waits for it.
    static let lifetime = Duration.seconds(120)

    private struct Key: Hashable {
        let userID: UInt32
        let application: ApplicationIdentity
    }

    weak var owner: (any QuestionDeskOwner)?

    private let clock: any Clock
    private var open: [Key: OpenQuestion] = [:]
    private var openCount: [UInt32: Int] = [:]
    /// Users for whom a question has waited for an agent in vain.
    private var abandoned: Set<UInt32> = []
    /// The numbers of the agents whose last word was no answer.
    private var failing: Set<UInt64> = []
    /// Numbers questions, and what agents are asked.
    private var lastNumber: UInt64 = 0

    init(clock: any Clock) { self.clock = clock }

    /// How many questions are open, for the idle exit.
    var count: Int { open.count }

    /// Asks the user, or joins the question that is open.
    func ask(
        _ requester: Requester, requesting level: AccuracyLevel, until deadline: Duration
    ) async -> WaitingRoom<OpenQuestion.Outcome>.Departure {
        let key = Key(userID: requester.userID, application: requester.application)
        if let question = open[key] { return await question.callers.wait(until: deadline) }
        guard let owner else { return .cancelled }
        if owner.nextAgent(for: requester.userID, after: []) == nil, !mayComeAgent(of: requester.userID) {
            // Such calls come as fast as a program can make them, and each that is noted is written.
            owner.noteSeen(requester, replacing: false)
            return .released(.failed(.noAgent(.init(requester))))
        }
        guard openCount[requester.userID, default: 0] < Self.limit else {
            return .released(.failed(.tooManyQuestions(limit: Self.limit)))
        }
        guard open.count < Self.overallLimit else {
            return .released(.failed(.tooManyQuestionsOfAll(limit: Self.overallLimit)))
        }
        let question = OpenQuestion(number: nextNumber(), requester: requester, level: level, clock: clock)
        open[key] = question
        openCount[requester.userID, default: 0] += 1
        owner.noteSeen(requester, replacing: true)
        question.expiry = clock.after(Self.lifetime) { [weak self, weak question] in
            guard let self, let question else { return }
            close(question, .failed(.questionExpired(.init(question.requester))))
        }
        pass(question)
        return await question.callers.wait(until: deadline)
    }

    /// An agent of the user has registered.
    func agentCame(of userID: UInt32) {
        abandoned.remove(userID)
        revisit(userID)
    }

    /// The agent has left; its questions go to the next one.
    func agentLeft(_ number: UInt64, of userID: UInt32) {
        failing.remove(number)
        for question in questions(of: userID) {
            guard case .asked(let asked) = question.state, asked.agentNumber == number else { continue }
            asked.task.cancel()
            pass(question)
        }
        revisit(userID)
    }

    /// Something that questions depend on has changed: ends those that are needless now, and puts those that can be put.
    ///
    /// - Parameter userID: `nil` for all users.
    func revisit(_ userID: UInt32?) {
        for question in questions(of: userID) {
            switch question.state {
            case .awaitingAgent, .awaitingCeiling:
                pass(question)
            case .asked:
                if owner?.levelToAsk(question.requester, requesting: question.level) == nil {
                    close(question, .overtaken)
                }
            case .settling, .closed:
                break
            }
        }
    }

    /// In the order in which they were raised.
    private func questions(of userID: UInt32?) -> [OpenQuestion] {
        open.values.filter { userID == nil || $0.requester.userID == userID }.sorted { $0.number < $1.number }
    }

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: From agent to agent

    private func mayComeAgent(of userID: UInt32) -> Bool {
        guard let policy = owner?.policy else { return false }
        return !policy.agentIDs.isEmpty && policy.agentWait > .zero && !abandoned.contains(userID)
    }

    private func pass(_ question: OpenQuestion) {
        guard let owner, let level = owner.levelToAsk(question.requester, requesting: question.level) else {
            return close(question, .overtaken)
        }
        guard let entry = owner.nextAgent(for: question.requester.userID, after: question.tried) else {
            return awaitAgent(question)
        }
        guard entry.reading == nil else {
            question.state = .awaitingCeiling
            return
        }
        put(question, level: level, to: entry)
    }

    private func awaitAgent(_ question: OpenQuestion) {
        if case .awaitingAgent = question.state { return }
        guard mayComeAgent(of: question.requester.userID), let wait = owner?.policy.agentWait else {
            return giveUp(question)
        }
        question.state = .awaitingAgent(
            clock.after(wait) { [weak self, weak question] in
                guard let self, let question else { return }
                giveUp(question)
            })
    }

    private func giveUp(_ question: OpenQuestion) {
        let userID = question.requester.userID
        if owner?.nextAgent(for: userID, after: []) == nil, abandoned.insert(userID).inserted {
            Log.notice("no agent for UID \(userID): applications that need one are refused until one registers")
        }
        close(question, .failed(.noAgent(.init(question.requester))))
    }

    private func put(_ question: OpenQuestion, level: AccuracyLevel, to entry: AgentRoster.Entry) {
        let (number, agent) = (entry.number, entry.agent)
        let asked = AgentQuestion(token: nextNumber(), application: question.requester.application, level: level)
        question.tried.insert(number)
        let task = ServiceActor.task { [weak self, weak question] in
            // Taken back before the agent has heard of it.
            guard !Task.isCancelled else { return }
            let result: Result<AgentAnswer, any Error>
            do {
                result = .success(try await agent.authorize(asked))
            } catch {
                result = .failure(error)
            }
            guard let self, let question else { return }
            await heard(result, from: agent.id, to: asked, in: question)
        }
        question.state = .asked(.init(agentNumber: number, agent: agent, question: asked, task: task))
    }

    private func heard(
        _ result: Result<AgentAnswer, any Error>, from agentID: String, to asked: AgentQuestion,
        in question: OpenQuestion
    ) async {
        // Only the agent that has the question now can answer it; a late word changes nothing.
        guard case .asked(let current) = question.state, current.question.token == asked.token else { return }
        switch result {
        case .success(let answer) where answer.isAllowed && answer.level == .none:
            fail(question, of: current.agentNumber, "agent \(agentID) allowed a level of none, which is no answer")
        case .success(let answer):
            failing.remove(current.agentNumber)
            question.state = .settling
            await owner?.keep(answer, of: agentID, to: asked.level, about: question.requester)
            close(question, .answered(isAllowed: answer.isAllowed))
        case .failure(is AgentGone):
            pass(question)
        case .failure:
            fail(question, of: current.agentNumber, "agent \(agentID) failed to answer a question")
        }
    }

    private func fail(_ question: OpenQuestion, of agentNumber: UInt64, _ reason: String) {
        if failing.insert(agentNumber).inserted { Log.notice("\(reason) of UID \(question.requester.userID)") }
        question.state = .settling
        close(question, .failed(.agentFailed(.init(question.requester))))
    }

    private func close(_ question: OpenQuestion, _ outcome: OpenQuestion.Outcome) {
        switch question.state {
        case .closed:
            return
        case .asked(let asked):
            asked.task.cancel()
            asked.agent.withdraw(asked.question)
        case .awaitingAgent, .awaitingCeiling, .settling:
            break
        }
        question.state = .closed
        question.expiry = nil
        let userID = question.requester.userID
        open[Key(userID: userID, application: question.requester.application)] = nil
        openCount[userID] = openCount[userID].flatMap { $0 > 1 ? $0 - 1 : nil }
        question.callers.release(outcome)
    }
}
