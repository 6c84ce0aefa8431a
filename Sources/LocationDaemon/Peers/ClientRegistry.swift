import DBus
import EventLoop
import GeoClueAPI

/// The clients that exist, by number and by the connection that owns them.
@ServiceActor
final class ClientRegistry {
    private(set) var clients: [UInt64: ClientObject] = [:]
    private var numbers: [BusName: [UInt64]] = [:]
    private var countByUser: [UInt32: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var users = NumberedUsers()
    private let peers: PeerDirectory

    init(peers: PeerDirectory) { self.peers = peers }

    var isEmpty: Bool { clients.isEmpty }

    /// The number of the next client: counted up for the life of the service, never given twice.
    ///
    /// - Throws: ``ServiceError/tooManyClients(limit:)``.
    func nextNumber(for peer: Peer) throws(ServiceError) -> UInt64 {
        guard numbers[peer.name, default: []].count < Limits.clientsPerPeer else {
            throw .tooManyClients(limit: Limits.clientsPerPeer)
        }
        guard countByUser[peer.userID, default: 0] < Limits.clientsPerUser else {
            throw .tooManyClients(limit: Limits.clientsPerUser)
        }
        lastNumber += 1
        return lastNumber
    }

    func add(_ client: ClientObject) {
        clients[client.number] = client
        users.note(client.number, client.peer.userID)
        numbers[client.peer.name, default: []].append(client.number)
        countByUser[client.peer.userID, default: 0] += 1
    }

    /// In the order in which they were made.
    var inOrder: [ClientObject] { clients.keys.sorted().compactMap { clients[$0] } }

    /// The client that a connection made last.
    func newest(of peer: BusName) -> ClientObject? { numbers[peer]?.last.flatMap { clients[$0] } }

    /// - Returns: the client that was removed; `nil` if there is none at `path` that belongs to `peer`.
    func remove(at path: ObjectPath, of peer: BusName) -> ClientObject? {
        guard case .client(let number)? = GeoClueNames.ClientBranchPath(path), clients[number]?.peer.name == peer else {
            return nil
        }
        numbers[peer]?.removeAll { $0 == number }
        return remove(number)
    }

    func removeAll(of peer: BusName) -> [ClientObject] {
        (numbers.removeValue(forKey: peer) ?? []).compactMap(remove)
    }

    private func remove(_ number: UInt64) -> ClientObject? {
        guard let client = clients.removeValue(forKey: number) else { return nil }
        let user = client.peer.userID
        countByUser[user, default: 1] -= 1
        if countByUser[user] == 0 { countByUser[user] = nil }
        return client
    }

    // MARK: On the bus

    /// The branch of the object tree below which clients and their locations are.
    var branch: ObjectTree.Branch {
        ObjectTree.Branch(
            object: { [weak self] path, sender in self?.object(at: path).flatMap { $0.owner == sender ? $0 : nil } },
            cover: { [weak self] in self?.cover(of: $0) },
            children: { [weak self] in self?.children(of: $0, for: $1) ?? [] })
    }

    private func object(at path: ObjectPath) -> (any BusObject & OwnedObject)? {
        switch GeoClueNames.ClientBranchPath(path) {
        case .client(let number): clients[number]
        case .location(let number, let client): clients[client]?.location(number)
        case .locations, nil: nil
        }
    }

    /// Other users are not told which clients there still are, nor where those have been: every path that there may once
    /// have been refuses them alike. Numbers beyond the last one given are no secret, since a new client shows them.
    private func cover(of path: ObjectPath) -> ObjectTree.Cover? {
        let number: UInt64
        let standIn: any BusObject
        switch GeoClueNames.ClientBranchPath(path) {
        case .client(let client): (number, standIn) = (client, ForeignObject(ClientObject.interface))
        case .location(_, let client): (number, standIn) = (client, ForeignObject(LocationObject.interface))
        case .locations, nil: return nil
        }
        guard number > 0, number <= lastNumber else { return nil }
        return .init(object: object(at: path), standIn: standIn) { [weak self] in
            await self?.isUser($0, of: number) ?? false
        }
    }

    /// Whether a client of this number was given to a program of the caller's own user.
    private func isUser(_ caller: BusName, of number: UInt64) async -> Bool {
        guard let userID = try? await peers.peer(caller).userID else { return false }
        return userID == clients[number]?.peer.userID ?? users.user(of: number)
    }

    /// A caller sees its own clients only.
    private func children(of path: ObjectPath, for caller: BusName) -> [String] {
        if path == GeoClueNames.clientBranch { return (numbers[caller] ?? []).map(String.init) }
        switch GeoClueNames.ClientBranchPath(path) {
        case .client(let number):
            return ownClient(number, of: caller).map { $0.locations.isEmpty ? [] : ["Location"] } ?? []
        case .locations(let number): return ownClient(number, of: caller)?.locations.numbers.map(String.init) ?? []
        case .location, nil: return []
        }
    }

    private func ownClient(_ number: UInt64, of caller: BusName) -> ClientObject? {
        clients[number].flatMap { $0.peer.name == caller ? $0 : nil }
    }
}
