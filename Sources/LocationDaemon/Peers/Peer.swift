import Authorization
import DBus
import EventLoop

/// A connection that uses the service: who it is by the word of the bus and the kernel.
@ServiceActor
final class Peer {
    nonisolated let name: BusName
    nonisolated let credentials: Credentials
    nonisolated let origin: ProcessOrigin

    nonisolated init(name: BusName, credentials: Credentials, origin: ProcessOrigin) {
        self.name = name
        self.credentials = credentials
        self.origin = origin
    }

    nonisolated var userID: UInt32 { credentials.userID }
}
