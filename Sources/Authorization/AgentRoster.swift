import EventLoop
import Geolocation

/// The living agents of all users, in the order in which they came. The first of a user is in charge.
@ServiceActor
struct AgentRoster {
    /// How many agents a user may have.
    nonisolated static let limit = 16

    struct Entry {
        let number: UInt64
        let agent: any Agent
        /// What the agent last said; `nil` until it really said something.
        var ceiling: AccuracyLevel?
        /// Who waits for the ceiling; `nil` once it has been read, or could not be.
        var reading: WaitingRoom<Void>?
        var readingLimit: Timer?
    }

    private var users: [UInt32: [Entry]] = [:]
    private var nextNumber: UInt64 = 0

    func entries(of userID: UInt32) -> [Entry] { users[userID] ?? [] }

    func inCharge(of userID: UInt32) -> Entry? { users[userID]?.first }

    /// The agent that a question goes to next.
    func next(for userID: UInt32, after tried: Set<UInt64>) -> Entry? {
        users[userID]?.first { !tried.contains($0.number) }
    }

    /// The lowest ceiling that a living agent of the user sent, and whose it is.
    func ceiling(of userID: UInt32) -> (level: AccuracyLevel, agentID: String)? {
        entries(of: userID)
            .compactMap { entry in entry.ceiling.map { (level: $0, agentID: entry.agent.id) } }
            .min { $0.level < $1.level }
    }

    func entry(of agent: any Agent) -> Entry? { entries(of: agent.userID).first { $0.agent === agent } }

    var all: [any Agent] { users.values.flatMap { $0.map(\.agent) } }

    mutating func add(_ agent: any Agent) {
        nextNumber += 1
        users[agent.userID, default: []].append(Entry(number: nextNumber, agent: agent))
    }

    mutating func remove(_ agent: any Agent) -> Entry? {
        guard let index = users[agent.userID]?.firstIndex(where: { $0.agent === agent }) else { return nil }
        let entry = users[agent.userID]?.remove(at: index)
        if users[agent.userID]?.isEmpty == true { users[agent.userID] = nil }
        return entry
    }

    /// Changes the entry of a living agent.
    mutating func update(_ agent: any Agent, _ change: (inout Entry) -> Void) {
        guard let index = users[agent.userID]?.firstIndex(where: { $0.agent === agent }) else { return }
        change(&users[agent.userID, default: []][index])
    }
}
