import DBus
import EventLoop

/// Which users sit at the machine, by logind's word: their use of the location shows, that of others does not.
///
/// Follows nobody but the users of clients that run. Without logind everybody counts.
@ServiceActor
final class ForegroundUsers {
    /// Called when a user that is followed has come to the foreground or left it.
    var onChange: (@ServiceActor () -> Void)?

    private static let manager: InterfaceName = "org.freedesktop.login1.Manager"
    private static let user: InterfaceName = "org.freedesktop.login1.User"

    private struct Followed {
        var isForeground = false
        var changes: Subscription?
    }

    private let connection: Connection
    private var followed: [UInt32: Followed] = [:]
    /// logind's own name; `nil` while it is not there.
    private var login1: BusName?

    init(_ connection: Connection) { self.connection = connection }

    /// logind has come or gone.
    func login1Changed(to owner: BusName?) {
        login1 = owner
        for user in followed.keys { begin(user) }
        onChange?()
    }

    func contains(_ user: UInt32) -> Bool { login1 == nil || followed[user]?.isForeground ?? false }

    /// Follows these users and nobody else.
    func follow(_ users: Set<UInt32>) {
        guard users.count != followed.count || !users.allSatisfy({ followed[$0] != nil }) else { return }
        for user in followed.keys where !users.contains(user) { followed[user] = nil }
        for user in users where followed[user] == nil { begin(user) }
    }

    private func begin(_ user: UInt32) {
        followed[user] = Followed()
        guard let login1 else { return }
        ServiceActor.start { [weak self, connection] in
            // Whoever logind does not know sits nowhere.
            guard
                let path = try? await connection.call(
                    login1, "/org/freedesktop/login1", Self.manager, "GetUser", user, returning: ObjectPath.self)
            else { return }
            self?.listen(to: user, at: path, of: login1)
        }
    }

    private func listen(to user: UInt32, at path: ObjectPath, of login1: BusName) {
        guard followed[user] != nil, self.login1 == login1 else { return }
        let rule = MatchRule(
            sender: login1, path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            argument0: Self.user.string)
        followed[user]?.changes = connection.subscribe(to: rule) { [weak self] _ in
            self?.read(user, at: path, of: login1)
        }
        read(user, at: path, of: login1)
    }

    private func read(_ user: UInt32, at path: ObjectPath, of login1: BusName) {
        ServiceActor.start { [weak self, connection] in
            let state = try? await connection.call(
                login1, path, "org.freedesktop.DBus.Properties", "Get", Self.user.string, "State",
                returning: Variant.self)
            guard let self, self.login1 == login1, followed[user] != nil else { return }
            // “active”: one of the user's sessions is in the foreground (org.freedesktop.login1(5), “State”).
            let isForeground = state?.value == .string("active")
            guard followed[user]?.isForeground != isForeground else { return }
            followed[user]?.isForeground = isForeground
            onChange?()
        }
    }
}
