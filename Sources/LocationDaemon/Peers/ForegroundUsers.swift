import DBus
import EventLoop

/// Which users sit at the machine, by logind's word: their use of the location shows, that of others does not.
///
/// Follows nobody but the users of clients that run. Without logind everybody counts.
@ServiceActor
final class ForegroundUsers {
    /// Called when a user that is followed has come to the foreground or left it.
    var onChange: (@ServiceActor () -> Void)?

    private struct Followed {
        var isForeground = false
        var changes: Subscription?
        var isReading = false
        var readsAgain = false
        var retry: Timer?
    }

    /// When logind is asked again after it has not answered.
    private static let retry = Duration.seconds(60)

    private let connection: Connection
    private let clock: any Clock
    private var followed: [UInt32: Followed] = [:]
    /// logind's own name; `nil` while it is not there.
    private var login1: BusName?

    init(_ connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

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

    private func begin(_ user: UInt32, isForeground: Bool = false) {
        followed[user] = Followed(isForeground: isForeground)
        guard let login1 else { return }
        ServiceActor.start { [weak self, connection] in
            do throws(BusError) {
                let path = try await connection.call(
                    login1, Logind.path, Logind.manager, "GetUser", user, returning: ObjectPath.self)
                self?.listen(to: user, at: path, of: login1)
            } catch {
                // Whoever logind does not know sits nowhere.
                if error == .noReply { self?.stayedSilent(about: user, login1) }
            }
        }
    }

    /// One that hangs is as good as none until it is asked again.
    private func stayedSilent(about user: UInt32, _ login1: BusName) {
        guard followed[user] != nil, self.login1 == login1 else { return }
        followed[user]?.retry = clock.after(Self.retry) { [weak self] in self?.begin(user, isForeground: true) }
        set(user, isForeground: true)
    }

    private func set(_ user: UInt32, isForeground: Bool) {
        guard followed[user]?.isForeground != isForeground else { return }
        followed[user]?.isForeground = isForeground
        onChange?()
    }

    private func listen(to user: UInt32, at path: ObjectPath, of login1: BusName) {
        guard followed[user] != nil, self.login1 == login1 else { return }
        let rule = MatchRule.propertiesChanged(of: Logind.user, at: path, from: login1)
        followed[user]?.changes = connection.subscribe(to: rule) { [weak self] _ in
            self?.read(user, at: path, of: login1)
        }
        read(user, at: path, of: login1)
    }

    /// However many changes come while logind is being asked, it is asked once more.
    private func read(_ user: UInt32, at path: ObjectPath, of login1: BusName) {
        guard followed[user]?.isReading == false else {
            followed[user]?.readsAgain = true
            return
        }
        followed[user]?.isReading = true
        ServiceActor.start { [weak self, connection] in
            let state: Result<Variant, BusError>
            do throws(BusError) {
                state = .success(
                    try await connection.call(
                        login1, path, .properties, "Get", Logind.user.string, "State",
                        returning: Variant.self))
            } catch {
                state = .failure(error)
            }
            self?.hasRead(state, of: user, at: path, login1)
        }
    }

    private func hasRead(_ state: Result<Variant, BusError>, of user: UInt32, at path: ObjectPath, _ login1: BusName) {
        guard self.login1 == login1, let entry = followed[user] else { return }
        followed[user]?.isReading = false
        followed[user]?.readsAgain = false
        switch state {
        case .failure(.noReply): stayedSilent(about: user, login1)
        // “active”: one of the user's sessions is in the foreground (org.freedesktop.login1(5), “State”).
        case .success(let value): set(user, isForeground: value.value == .string("active"))
        case .failure: set(user, isForeground: false)
        }
        if entry.readsAgain { read(user, at: path, of: login1) }
    }
}
