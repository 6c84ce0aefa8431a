import DBus
import EventLoop
import GeoClueAPI
import Geolocation

/// Hands out clients and takes in agents: `/org/freedesktop/GeoClue2/Manager`.
package final class ManagerObject: BusObject {
    package static let interface = Interface<ManagerObject>(GeoClueNames.manager) {
        Method("GetClient", returns: "client", access: .anyone, body: ManagerObject.getClient)
        Method("CreateClient", returns: "client", access: .anyone, body: ManagerObject.createClient)
        Method("DeleteClient", "client", access: .anyone, body: ManagerObject.deleteClient)
        Method("AddAgent", "id", access: .unsandboxed, body: ManagerObject.addAgent)
        Property("InUse", access: .anyone) { $0.isInUse }
        Property("AvailableAccuracyLevel", access: .anyone) { $0.availableLevel.rawValue }
    }

    let peers: PeerDirectory
    private let clients: ClientRegistry
    private let agents: AgentRegistry
    private let environment: ClientEnvironment

    private(set) var isInUse = false
    private(set) var availableLevel = AccuracyLevel.none

    init(peers: PeerDirectory, clients: ClientRegistry, agents: AgentRegistry, environment: ClientEnvironment) {
        self.peers = peers
        self.clients = clients
        self.agents = agents
        self.environment = environment
    }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    // MARK: Methods

    /// The client that the caller made last, or a new one.
    func getClient(_ call: MethodCall) async throws -> ObjectPath {
        let peer = try await peers.peer(call.sender)
        return try clients.newest(of: peer.name)?.path ?? makeClient(for: peer)
    }

    func createClient(_ call: MethodCall) async throws -> ObjectPath {
        try makeClient(for: try await peers.peer(call.sender))
    }

    /// Succeeds quietly, too, where there is no such client of the caller's.
    func deleteClient(_ call: MethodCall, path: ObjectPath) {
        guard let client = clients.remove(at: path, of: call.sender) else { return }
        client.end()
        environment.clientChanged(client.number)
    }

    func addAgent(_ call: MethodCall, id: String) async throws {
        try agents.add(id, from: try await peers.peer(call.sender))
    }

    private func makeClient(for peer: Peer) throws(ServiceError) -> ObjectPath {
        let client = ClientObject(number: try clients.nextNumber(for: peer), peer: peer, environment: environment)
        clients.add(client)
        environment.clientChanged(client.number)
        return client.path
    }

    // MARK: Properties

    func update(isInUse: Bool) {
        guard isInUse != self.isInUse else { return }
        self.isInUse = isInUse
        changed("InUse")
    }

    func update(availableLevel: AccuracyLevel) {
        guard availableLevel != self.availableLevel else { return }
        self.availableLevel = availableLevel
        changed("AvailableAccuracyLevel")
    }

    private func changed(_ property: MemberName) {
        environment.connection.propertyChanged(
            property, of: self, at: GeoClueNames.managerPath, in: Self.interface, to: nil)
    }
}

extension Access<ManagerObject> {
    /// Callers outside of any sandbox.
    static var unsandboxed: Access { .unsandboxed { $0.peers } }
}
