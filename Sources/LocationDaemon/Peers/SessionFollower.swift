import Authorization
import DBus
import EventLoop
import Geolocation

/// Ends what holds for a session with the user's last one, by logind's word. Without logind that is the machine's end.
@ServiceActor
final class SessionFollower {
    let foreground: ForegroundUsers

    private let connection: Connection
    private let authorizer: Authorizer
    private let clock: any Clock
    private var ownerWatch: Subscription?
    private var removals: Subscription?
    private var isLooking = false
    private var looksAgain = false
    private var isSilent = false
    private var nextLook: Timer?

    /// When logind is asked again after it has not answered.
    private static let retry = Duration.seconds(60)

    init(_ connection: Connection, authorizer: Authorizer, clock: any Clock) {
        self.connection = connection
        self.authorizer = authorizer
        self.clock = clock
        foreground = ForegroundUsers(connection, clock: clock)
    }

    func start() {
        ownerWatch = connection.followOwner(of: Logind.busName) { [weak self] in self?.follow($0) }
    }

    private func follow(_ owner: BusName?) {
        foreground.login1Changed(to: owner)
        nextLook = nil
        removals = owner.map { owner in
            connection.subscribe(
                to: MatchRule(sender: owner, path: Logind.path, interface: Logind.manager, member: "SessionRemoved")
            ) { [weak self] _ in self?.look() }
        }
        // Sessions may have ended while nobody followed them.
        if owner != nil { look() }
    }

    /// However many sessions end while logind is being asked, it is asked once more.
    private func look() {
        nextLook = nil
        let users = authorizer.usersWithSessionRecords
        guard !users.isEmpty else { return }
        guard !isLooking else { return looksAgain = true }
        isLooking = true
        ServiceActor.start { [weak self] in
            do {
                try await self?.endSessions(of: users)
                self?.hasLooked(nil)
            } catch {
                self?.hasLooked(error)
            }
        }
    }

    private func hasLooked(_ error: (any Error)?) {
        isLooking = false
        if let error, !isSilent {
            Log.warning("logind does not say who is logged in (\(error)); what holds for a session goes on")
        }
        isSilent = error != nil
        let looksAgain = looksAgain
        self.looksAgain = false
        if isSilent {
            nextLook = clock.after(Self.retry) { [weak self] in self?.look() }
        } else if looksAgain {
            look()
        }
    }

    private func endSessions(of users: Set<UInt32>) async throws(BusError) {
        let sessions = try await Logind.sessions(over: connection, timeout: .seconds(10))
        for user in users {
            var oldest: Timestamp?
            for session in sessions where session.userID == user {
                let start = try await begin(of: session.path)
                oldest = min(oldest ?? start, start)
            }
            // What was decided before the oldest session there is was decided in one that has ended.
            authorizer.sessionEnded(of: user, begunBefore: oldest)
        }
    }

    private func begin(of session: ObjectPath) async throws(BusError) -> Timestamp {
        let value = try await connection.call(
            Logind.busName, session, .properties, "Get", Logind.session.string,
            "Timestamp", returning: Variant.self, timeout: .seconds(10))
        guard case .uint64(let microseconds) = value.value else { throw .failed("a session has no beginning") }
        return Timestamp(microseconds: Int64(clamping: microseconds))
    }
}
