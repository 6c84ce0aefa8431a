import Authorization
import DBus
import EventLoop

/// A connection that uses the service: who it is by the word of the bus and the kernel.
package struct Peer: Sendable {
    let name: BusName
    let userID: UInt32
    let origin: ProcessOrigin

    package init(name: BusName, userID: UInt32, origin: ProcessOrigin) {
        self.name = name
        self.userID = userID
        self.origin = origin
    }
}

/// Finds out who a connection is.
package typealias Identification = @ServiceActor (Connection, BusName) async throws(BusError) -> Peer

extension Peer {
    /// By the word of the bus and the kernel.
    @ServiceActor
    package static func identify(_ connection: Connection, _ name: BusName) async throws(BusError) -> Peer {
        let firstSeen = LoopClock.shared.now
        let credentials = try await connection.credentials(of: name)
        let facts = ProcessFacts(of: credentials, firstSeen: firstSeen)
        return Peer(name: name, userID: credentials.userID, origin: ProcessOrigin(facts))
    }
}
