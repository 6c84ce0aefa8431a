import DBus
import EventLoop
import Glibc

/// logind, as far as the service asks it.
@ServiceActor
package final class Login1: BusObject {
    package typealias Session = Structure<String, UInt32, String, String, ObjectPath>

    static let interface = Interface<Login1>("org.freedesktop.login1.Manager") {
        Method("ListSessions", returns: "sessions", access: .anyone, body: Login1.listSessions)
        Method("GetUser", "uid", returns: "path", access: .anyone, body: Login1.getUser)
        Method("Inhibit", "what", "who", "why", "mode", returns: "pipe_fd", access: .anyone, body: Login1.inhibit)
        Signal("SessionRemoved", "id", "path", of: String.self, ObjectPath.self)
        Signal("PrepareForSleep", "start", of: Bool.self)
    }

    private let connection: Connection
    private var users: [UInt32: Login1User] = [:]
    /// Users and when their sessions began, in microseconds since the epoch.
    package var sessions: [String: (user: UInt32, begin: Int64)]
    /// Whether it answers no more who is logged in.
    package var isMute = false
    /// Whether it answers no more who somebody is.
    package var isMuteAboutUsers = false
    /// Each question who is logged in.
    package let asked = Events<Void>()

    package enum Manner { case granting, refusing, deaf }

    /// How it answers who wants to delay sleep.
    package var manner: Manner
    /// What was asked for.
    package private(set) var inhibitions: [String] = []
    private var locks: [(descriptor: FileDescriptor, watch: Watch)] = []

    package init(
        _ connection: Connection, _ sessions: [String: (user: UInt32, begin: Int64)], manner: Manner = .granting
    ) async throws {
        self.connection = connection
        self.sessions = sessions
        self.manner = manner
        connection.objects.add(self, at: "/org/freedesktop/login1")
        connection.objects.add(
            .init(object: { [weak self] path, _ in self?.session(path) }, children: { _, _ in [] }),
            below: "/org/freedesktop/login1/session")
        for user in Set(sessions.values.map(\.user)) {
            let object = Login1User()
            users[user] = object
            connection.objects.add(object, at: Self.path(of: user))
        }
        try await connection.takeName("org.freedesktop.login1")
    }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    func listSessions(_ call: MethodCall) async -> [Session] {
        asked.add(())
        if isMute { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        return sessions.sorted { $0.key < $1.key }.map {
            Session($0.key, $0.value.user, "somebody", "seat0", path($0.key))
        }
    }

    package func end(_ id: String) throws {
        sessions[id] = nil
        try connection.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionRemoved", to: nil, id, path(id))
    }

    /// How many delay locks are held now.
    package var heldLocks: Int { locks.count }

    func inhibit(_ call: MethodCall, what: String, who: String, why: String, mode: String) async throws -> UnixFD {
        inhibitions.append("\(what) \(mode)")
        switch manner {
        case .granting: break
        case .refusing: throw BusError.accessDenied("not you")
        case .deaf: try await Task.sleep(for: .seconds(3600))
        }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BusError.failed("no pipe") }
        // A program that a test beside this one starts would hold the lock too.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let mine = FileDescriptor(adopting: ends[0])
        let watch = Watch(mine, for: .readable) { [weak self] _ in self?.released(ends[0]) }
        locks.append((mine, watch))
        return UnixFD(FileDescriptor(adopting: ends[1]))
    }

    private func released(_ descriptor: Int32) {
        guard let index = locks.firstIndex(where: { $0.descriptor.raw == descriptor }) else { return }
        locks[index].watch.cancel()
        locks.remove(at: index)
    }

    package func prepareForSleep(_ isBeginning: Bool) throws {
        try connection.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", to: nil, isBeginning)
    }

    package func leave() {
        for (_, watch) in locks { watch.cancel() }
        connection.close()
    }

    func getUser(_ call: MethodCall, uid: UInt32) async throws -> ObjectPath {
        if isMuteAboutUsers { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        guard users[uid] != nil else { throw BusError("org.freedesktop.login1.NoSuchUser", "no such user") }
        return Self.path(of: uid)
    }

    /// Brings a user to the foreground (`active`) or takes it from there (`online`).
    package func set(_ state: String, of user: UInt32) {
        guard let object = users[user] else { return }
        object.state = state
        connection.propertyChanged(
            "State", of: object, at: Self.path(of: user), in: Login1User.interface, to: nil)
    }

    private static func path(of user: UInt32) -> ObjectPath {
        ObjectPath(trusted: "/org/freedesktop/login1/user").appending("_\(user)")
    }

    private func path(_ id: String) -> ObjectPath {
        ObjectPath(trusted: "/org/freedesktop/login1/session").appending(id)
    }

    private func session(_ path: ObjectPath) -> (any BusObject)? {
        sessions.first { self.path($0.key) == path }.map { Login1Session(begin: UInt64($0.value.begin)) }
    }
}

private final class Login1Session: BusObject {
    static let interface = Interface<Login1Session>("org.freedesktop.login1.Session") {
        Property("Timestamp", changes: .constant, access: .anyone) { $0.begin }
    }

    let begin: UInt64

    init(begin: UInt64) { self.begin = begin }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }
}

private final class Login1User: BusObject {
    static let interface = Interface<Login1User>("org.freedesktop.login1.User") {
        Property("State", access: .anyone) { $0.state }
    }

    var state = "active"

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }
}
