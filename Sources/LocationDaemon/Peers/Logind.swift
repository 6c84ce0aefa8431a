import DBus
import EventLoop

/// What the service uses of logind (org.freedesktop.login1(5)).
enum Logind {
    static let busName: BusName = "org.freedesktop.login1"
    static let path: ObjectPath = "/org/freedesktop/login1"
    static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    static let session: InterfaceName = "org.freedesktop.login1.Session"
    static let user: InterfaceName = "org.freedesktop.login1.User"

    /// The sessions that there are, with their users.
    @ServiceActor
    static func sessions(
        over connection: Connection, timeout: Duration
    ) async throws(BusError) -> [(userID: UInt32, path: ObjectPath)] {
        let sessions = try await connection.call(
            busName, path, manager, "ListSessions",
            returning: [Structure<String, UInt32, String, String, ObjectPath>].self, timeout: timeout)
        return sessions.map { ($0.fields.1, $0.fields.4) }
    }
}
