import Authorization
import EventLoop
import Geolocation

/// An agent that does what a test tells it to.
@ServiceActor
final class ScriptedAgent: Agent {
    struct Trouble: Error {}

    enum Behaviour {
        case answers(AgentAnswer)
        /// Allows whatever it is asked.
        case agrees
        case fails
        /// Leaves the bus with the question.
        case isGone
        /// Keeps the question until ``answer(_:_:)``, whatever happens to the call.
        case thinks
    }

    let id: String
    let userID: UInt32
    var behaviour: Behaviour
    private(set) var asked: [AgentQuestion] = []
    private(set) var withdrawn: [AgentQuestion] = []

    private var thinking: [UInt64: CheckedContinuation<AgentAnswer, any Error>] = [:]
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ id: String = "shell", user: UInt32 = 1, _ behaviour: Behaviour = .thinks) {
        self.id = id
        userID = user
        self.behaviour = behaviour
    }

    convenience init(_ behaviour: Behaviour) { self.init("shell", behaviour) }

    func authorize(_ question: AgentQuestion) async throws -> AgentAnswer {
        asked.append(question)
        let ready = watchers.filter { $0.count <= asked.count }
        watchers.removeAll { $0.count <= asked.count }
        for watcher in ready { watcher.continuation.resume() }
        switch behaviour {
        case .answers(let answer): return answer
        case .agrees: return AgentAnswer(isAllowed: true, level: question.level)
        case .fails: throw Trouble()
        case .isGone: throw AgentGone()
        case .thinks: return try await withCheckedThrowingContinuation { thinking[question.token] = $0 }
        }
    }

    func withdraw(_ question: AgentQuestion) { withdrawn.append(question) }

    /// Comes back when the agent has been asked so many times in all.
    func questions(_ count: Int) async {
        if asked.count >= count { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }

    /// Answers the question that it was asked as the `index`-th.
    func answer(_ index: Int, _ isAllowed: Bool, _ level: AccuracyLevel = .exact) {
        thinking.removeValue(forKey: asked[index].token)?.resume(
            returning: AgentAnswer(isAllowed: isAllowed, level: level))
    }

    /// Answers the first question.
    func answer(_ isAllowed: Bool) { answer(0, isAllowed) }

    /// Ends every call that it still holds with an error, as a bus does for a peer that has gone.
    func hangUp(_ error: any Error = AgentGone()) {
        let all = thinking.values
        thinking = [:]
        for continuation in all { continuation.resume(throwing: error) }
    }
}
