import Authorization
import DBus
import EventLoop

/// A connection that uses the service: who it is by the word of the bus and the kernel.
@ServiceActor
package final class Peer {
    nonisolated let name: BusName
    nonisolated let credentials: Credentials
    nonisolated let origin: ProcessOrigin

    package nonisolated init(name: BusName, credentials: Credentials, origin: ProcessOrigin) {
        self.name = name
        self.credentials = credentials
        self.origin = origin
    }

    nonisolated var userID: UInt32 { credentials.userID }
}

/// Finds out who a connection is.
package typealias Identification = @ServiceActor (Connection, BusName) async throws(BusError) -> Peer

extension Peer {
    /// By the word of the bus and the kernel.
    package static func identify(_ connection: Connection, _ name: BusName) async throws(BusError) -> Peer {
        let firstSeen = LoopClock.shared.now
        let credentials = try await connection.credentials(of: name)
        let facts = ProcessFacts(of: credentials, firstSeen: firstSeen)
        return Peer(name: name, credentials: credentials, origin: ProcessOrigin(facts))
    }
}
