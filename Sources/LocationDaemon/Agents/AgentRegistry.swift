import Authorization
import DBus
import EventLoop

/// The agents that have registered, until they leave the bus.
@ServiceActor
final class AgentRegistry {
    private let connection: Connection
    private let authorizer: Authorizer
    private var agents: [BusName: [AgentProxy]] = [:]

    init(connection: Connection, authorizer: Authorizer) {
        self.connection = connection
        self.authorizer = authorizer
    }

    /// Takes in an agent under an id of its own choice, which the configuration has to list.
    ///
    /// - Throws: ``ServiceError/agentRefused(_:)``.
    func add(_ id: String, from peer: Peer) throws(ServiceError) {
        do {
            // One that registers again keeps its place, and is not read again: its changes are followed already.
            guard !agents[peer.name, default: []].contains(where: { $0.id == id }) else {
                return try authorizer.policy.admitAgent(id, from: peer.origin)
            }
            let agent = AgentProxy(id: id, peer: peer, connection: connection)
            try authorizer.agentRegistered(agent, from: peer.origin)
            agents[peer.name, default: []].append(agent)
            agent.followCeiling(
                changed: { [weak self, weak agent] level in
                    if let agent { self?.authorizer.ceilingChanged(of: agent, to: level) }
                },
                finished: { [weak self, weak agent] in
                    if let agent { self?.authorizer.ceilingReadFinished(of: agent) }
                })
        } catch {
            throw .agentRefused(error)
        }
    }

    /// Forgets the agents of a connection that has left.
    func removeAll(of peer: BusName) {
        for agent in agents.removeValue(forKey: peer) ?? [] { authorizer.agentLeft(agent) }
    }
}
