import DBus
import EventLoop

/// Which users have a login session, by logind's word.
@ServiceActor
final class SessionDirectory {
    private typealias Waiting = CheckedContinuation<Set<UInt32>?, Never>

    private let connection: Connection
    private var watch: Subscription?
    /// Whether logind is on the bus; `nil` until the bus has said so.
    private var isPresent: Bool?
    /// Who waits for the answer to the one question that is under way; `nil` while none is.
    private var waiting: [Waiting]?
    private var isAnswering = true

    init(_ connection: Connection) {
        self.connection = connection
        watch = connection.watchOwner(of: Logind.busName) { [weak self] owner in self?.isPresent = owner != nil }
    }

    /// Whether a user has a login session. Without logind on this bus every user counts as having one; where logind is
    /// there and does not answer, nobody does.
    func hasSession(_ user: UInt32) async -> Bool {
        if isPresent == nil {
            let found = try? await connection.callBus("NameHasOwner", Logind.busName.string, returning: Bool.self)
            isPresent = isPresent ?? found ?? false
        }
        guard isPresent == true else { return true }
        return await users()?.contains(user) ?? false
    }

    /// One question serves all that come while it is under way: the bus allows only so many open calls.
    private func users() async -> Set<UInt32>? {
        await withCheckedContinuation { (continuation: Waiting) in
            if waiting != nil {
                waiting?.append(continuation)
            } else {
                waiting = [continuation]
                ServiceActor.start { [self] in answer(await ask()) }
            }
        }
    }

    private func answer(_ users: Set<UInt32>?) {
        let continuations = waiting ?? []
        waiting = nil
        for continuation in continuations { continuation.resume(returning: users) }
    }

    private func ask() async -> Set<UInt32>? {
        do throws(BusError) {
            let sessions = try await Logind.sessions(over: connection, timeout: .seconds(2))
            isAnswering = true
            return Set(sessions.map(\.userID))
        } catch {
            if isAnswering {
                Log.warning("logind does not say who is logged in (\(error.name)); nobody counts as logged in")
            }
            isAnswering = false
            return nil
        }
    }
}
