import EventLoop
import Geolocation

/// The program that asks the user: the desktop's own, or one in a terminal.
@ServiceActor
package protocol Agent: AnyObject, Sendable {
    /// The id that it registered under, which the configuration lists.
    var id: String { get }
    var userID: UInt32 { get }

    /// Asks the user. May take for ever; the task is cancelled when the answer is no longer wanted.
    ///
    /// - Throws: ``AgentGone`` if the agent went away without an answer, anything else if it failed.
    func authorize(_ question: AgentQuestion) async throws -> AgentAnswer

    /// Tells the agent, if it can be told, that the answer is no longer wanted; also of a question it never heard.
    func withdraw(_ question: AgentQuestion)
}

/// What an agent is asked.
package struct AgentQuestion: Sendable, Hashable {
    /// Unique while the service runs.
    package let token: UInt64
    package let application: ApplicationIdentity
    /// The finest level that an answer can allow.
    package let level: AccuracyLevel
}

package struct AgentAnswer: Sendable, Hashable {
    package let isAllowed: Bool
    package let level: AccuracyLevel

    package init(isAllowed: Bool, level: AccuracyLevel) {
        self.isAllowed = isAllowed
        self.level = level
    }
}

/// The agent left the bus, so the question goes to another one.
package struct AgentGone: Error {
    package init() {}
}

/// Why a program may not act as an agent.
package enum AgentRefusal: Error, Sendable, Hashable {
    case notListed(id: String)
    case sandboxed(id: String)
    case tooMany(limit: Int)

    /// The text for the caller.
    package var message: String {
        switch self {
        case .notListed(let id): "\(id) not allowed to act as agent"
        case .sandboxed(let id): "\(id) not allowed to act as agent: it runs in a sandbox"
        case .tooMany(let limit): "Too many agents: \(limit) of this user are registered"
        }
    }
}
