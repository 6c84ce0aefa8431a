import Authorization
import EventLoop
import Positioning

/// The clients that are told of positions, in the order in which they were made.
///
/// Written with plain loops, since it runs at each Start and each fix with all clients there are.
@ServiceActor
struct ActiveClients {
    private(set) var clients: [ClientObject] = []
    /// What each of them wants.
    private var demands: [Demand] = []
    /// How many want the same.
    private var clientsByDemand: [Demand: Int] = [:]
    private var clientsByUser: [UInt32: Int] = [:]
    /// The users that they belong to.
    private(set) var userIDs: Set<UInt32> = []

    /// Takes in how a client is now.
    ///
    /// - Parameter client: `nil` for one that has been deleted.
    mutating func update(_ number: UInt64, _ client: ClientObject?) {
        let index = position(of: number)
        let isKnown = index < clients.count && clients[index].number == number
        if isKnown {
            count(clients.remove(at: index).peer.userID, -1)
            clientsByDemand.count(demands.remove(at: index), -1)
        }
        if let client, let demand = client.demand {
            clients.insert(client, at: index)
            demands.insert(demand, at: index)
            count(client.peer.userID, 1)
            clientsByDemand.count(demand, 1)
        }
    }

    /// What all of them together want of the sources; `nil` if there are none.
    var demand: Demand? {
        guard var union = clientsByDemand.keys.first else { return nil }
        for demand in clientsByDemand.keys { union.formUnion(demand) }
        return union
    }

    /// Whether any of them counts as use, which parts of the system do not, nor users who are not at the machine.
    func isAnyUse(by policy: AccessPolicy, of foreground: ForegroundUsers) -> Bool {
        for client in clients {
            guard let requester = client.requester, foreground.contains(requester.userID) else { continue }
            if !policy.isSystemComponent(requester.application) { return true }
        }
        return false
    }

    private mutating func count(_ userID: UInt32, _ change: Int) {
        clientsByUser.count(userID, change)
        if clientsByUser[userID] == nil { userIDs.remove(userID) } else { userIDs.insert(userID) }
    }

    /// Where a client with this number is, or would be.
    private func position(of number: UInt64) -> Int {
        var (low, high) = (0, clients.count)
        while low < high {
            let middle = (low + high) / 2
            if clients[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Dictionary where Value == Int {
    /// Counts `key` up or down; what has come to nothing is no longer in it.
    fileprivate mutating func count(_ key: Key, _ change: Int) {
        let count = self[key, default: 0] + change
        self[key] = count == 0 ? nil : count
    }
}
