import DBus
import EventLoop

/// Which users have a login session, by logind's word.
@ServiceActor
final class SessionDirectory {
    private static let login1: BusName = "org.freedesktop.login1"

    private let connection: Connection
    private var watch: Subscription?
    /// Whether logind is on the bus; `nil` until the bus has said so.
    private var isPresent: Bool?

    init(_ connection: Connection) {
        self.connection = connection
        watch = connection.watchOwner(of: Self.login1) { [weak self] owner in self?.isPresent = owner != nil }
    }

    /// Whether a user has a login session. Without logind on this bus every user counts as having one.
    func hasSession(_ user: UInt32) async -> Bool {
        if isPresent == nil {
            let found = try? await connection.callBus("NameHasOwner", Self.login1.string, returning: Bool.self)
            isPresent = isPresent ?? found ?? false
        }
        guard isPresent == true else { return true }
        do {
            let sessions = try await connection.call(
                Self.login1, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "ListSessions",
                returning: [Structure<String, UInt32, String, String, ObjectPath>].self, timeout: .seconds(2))
            return sessions.contains { $0.fields.1 == user }
        } catch {
            Log.warning("logind does not say who is logged in (\(error.name)); all users count as logged in")
            return true
        }
    }
}
