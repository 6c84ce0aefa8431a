import EventLoop
import Geolocation

/// One question to one user about one application, from the call that raised it to the answer or its end.
@ServiceActor
final class OpenQuestion {
    enum Outcome: Sendable, Hashable {
        /// The answer has been stored.
        case answered(isAllowed: Bool)
        case failed(Denial)
        /// Something else has decided meanwhile.
        case overtaken
    }

    enum State {
        /// Until the timer fires; another state lets go of it.
        case awaitingAgent(Timer)
        /// An agent has come, and its ceiling is still being read.
        case awaitingCeiling
        case asked(Asked)
        /// The answer is being stored.
        case settling
        case closed
    }

    struct Asked {
        let agentNumber: UInt64
        let agent: any Agent
        let question: AgentQuestion
        let task: Task<Void, Never>
    }

    /// Later questions have higher numbers.
    let number: UInt64
    /// Who raised it.
    let requester: Requester
    /// What was asked for, which the ceiling may still lower before an agent sees it.
    let level: AccuracyLevel
    let callers: WaitingRoom<Outcome>
    var state = State.awaitingCeiling
    /// Numbers of the agents that had it.
    var tried: Set<UInt64> = []
    /// Ends the question.
    var expiry: Timer?

    init(number: UInt64, requester: Requester, level: AccuracyLevel, clock: any Clock) {
        self.number = number
        self.requester = requester
        self.level = level
        callers = WaitingRoom(clock: clock)
    }
}
