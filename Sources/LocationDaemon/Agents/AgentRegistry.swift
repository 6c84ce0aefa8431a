import Authorization
import DBus
import EventLoop

/// The agents that have registered, until they leave the bus.
@ServiceActor
final class AgentRegistry {
    private let connection: Connection
    private let authorizer: Authorizer
    private let sessions: SessionDirectory
    private let clock: any Clock
    private let calls = AgentCalls()
    private var agents: [BusName: [AgentProxy]] = [:]

    init(connection: Connection, authorizer: Authorizer, sessions: SessionDirectory, clock: any Clock) {
        self.connection = connection
        self.authorizer = authorizer
        self.sessions = sessions
        self.clock = clock
        authorizer.onPolicyChange = { [weak self] in self?.admitAgain() }
    }

    /// Takes in an agent under an id of its own choice, which the configuration has to list.
    ///
    /// - Throws: ``ServiceError/agentRefused(_:)``.
    func add(_ id: String, from peer: Peer) throws(ServiceError) {
        let known = agents[peer.name, default: []].first { $0.id == id }
        let agent =
            known
            ?? AgentProxy(
                id: id, peer: peer, connection: connection, calls: calls, sessions: sessions, clock: clock)
        do {
            // One that registers again keeps its place, and is not read again: its changes are followed already.
            if authorizer.isRegistered(agent) {
                try authorizer.policy.admitAgent(id, from: peer.origin)
            } else {
                try admit(agent)
            }
        } catch {
            throw .agentRefused(error)
        }
        if known == nil { agents[peer.name, default: []].append(agent) }
    }

    private func admit(_ agent: AgentProxy) throws(AgentRefusal) {
        try authorizer.agentRegistered(agent, from: agent.origin)
        agent.followCeiling(
            changed: { [weak self, weak agent] level in
                if let agent { self?.authorizer.ceilingChanged(of: agent, to: level) }
            },
            finished: { [weak self, weak agent] in
                if let agent { self?.authorizer.ceilingReadFinished(of: agent) }
            })
    }

    /// An agent that the configuration no longer listed, and lists again, does not know that it ever left.
    private func admitAgain() {
        for agent in agents.values.joined() where !authorizer.isRegistered(agent) { try? admit(agent) }
    }

    /// Forgets the agents of a connection that has left.
    func removeAll(of peer: BusName) {
        for agent in agents.removeValue(forKey: peer) ?? [] { authorizer.agentLeft(agent) }
    }
}
