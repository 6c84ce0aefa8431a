import Authorization
import DBus
import EventLoop
import GeoClueAPI
import Geolocation
import Positioning

/// One application's wish to know the position: `/org/freedesktop/GeoClue2/Client/3`.
///
/// Belongs to the connection that asked for it. All of its signals go there and nowhere else.
package final class ClientObject: BusObject {
    package static let interface = Interface<ClientObject>(GeoClueNames.client) {
        Method("Start", access: .owner, body: ClientObject.start)
        Method("Stop", access: .owner, body: ClientObject.stop)
        Property("Location", access: .owner) { $0.locations.path }
        Property(
            "DistanceThreshold", access: .owner, get: { UInt32($0.threshold.distance) }, set: { $0.setDistance($1) })
        Property("TimeThreshold", access: .owner, get: { $0.threshold.time }, set: { $0.setTime($1) })
        Property("DesktopId", access: .owner, get: { $0.desktopID }, set: { try $0.setDesktopID($1) })
        Property("RequestedAccuracyLevel", access: .owner, get: { $0.requestedLevel }, set: { $0.setLevel($1) })
        Property("Active", access: .owner) { $0.isActive }
        Signal("LocationUpdated", "old", "new", of: ObjectPath.self, ObjectPath.self)
    }

    // Literals are checked wherever they stand; this one goes out with every fix.
    private static let location: MemberName = "Location"

    private enum State: Equatable {
        case stopped
        /// Goes back to being held back if it fails.
        case starting(attempt: Int, suspended: Grant?)
        case active(Grant)
        /// Held back by the user, an agent or the administrator. Goes on by itself when that is taken back.
        case suspended(Grant)
    }

    let number: UInt64
    let path: ObjectPath
    let peer: Peer
    let environment: ClientEnvironment

    private var state = State.stopped
    private var attempts = 0
    private var waitingStarts = 0
    /// Who started it, fixed at that Start whatever is written into `DesktopId` afterwards.
    private(set) var requester: Requester?
    /// Whether nothing has been told since Start, so that no threshold holds anything back.
    private var awaitsFirst = false
    /// Whether it has not been told of the last position, the bus being congested.
    private(set) var hasMissed = false
    /// The level that the running Start asked for.
    private var startedLevel = AccuracyLevel.none

    private var desktopID = ""
    private var requestedLevel = AccuracyLevel.city.rawValue
    private var threshold = UpdateThreshold()
    /// The use that was last counted.
    private var countedUse: (day: AccessHistory.Day, level: AccuracyLevel)?

    private(set) var locations: LocationChain

    private var signals: (updated: SignalTemplate, changed: SignalTemplate)?

    init(number: UInt64, peer: Peer, environment: ClientEnvironment) {
        self.number = number
        self.peer = peer
        self.environment = environment
        path = GeoClueNames.clientPath(number)
        locations = LocationChain(client: path)
    }

    package var owner: BusName { peer.name }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    var isActive: Bool { grant != nil }

    var grant: Grant? { if case .active(let grant) = state { grant } else { nil } }

    /// What it wants of the sources while it is active.
    var demand: Demand? { grant.map { Demand(level: $0.level, minimumInterval: threshold.time) } }

    func location(_ number: UInt64) -> LocationObject? {
        locations[number].map { LocationObject($0, owner: owner) }
    }

    // MARK: Starting and stopping

    func start(_ call: MethodCall) async throws {
        guard !isActive else { return }
        countedUse = nil
        let attempt = beginAttempt()
        waitingStarts += 1
        defer { waitingStarts -= 1 }
        do {
            let requester = try await identify()
            let level = AccuracyLevel(wire: requestedLevel)
            let grant = try await environment.authorizer.authorize(requester, requesting: level).mapError(
                ServiceError.denied
            ).get()
            // The agent may have taken minutes. If the client stopped or started again since, this answer is void.
            guard isStarting(attempt) else { return }
            self.requester = requester
            startedLevel = level
            activate(grant)
        } catch {
            // Another Start of this attempt may still get its yes.
            if case .starting(attempt, let suspended) = state, waitingStarts == 1 { startFailed(suspended) }
            throw error
        }
    }

    func stop(_ call: MethodCall) {
        let wasActive = isActive
        state = .stopped
        if wasActive { deactivated() }
    }

    /// Stops without a word, since there is nobody left to hear it: the client has been deleted, or its owner has left.
    func end() { state = .stopped }

    /// A Start that comes while another one waits joins it.
    private func beginAttempt() -> Int {
        if case .starting(let attempt, _) = state { return attempt }
        let suspended: Grant? = if case .suspended(let grant) = state { grant } else { nil }
        attempts += 1
        state = .starting(attempt: attempts, suspended: suspended)
        return attempts
    }

    /// Goes back to being held back. Where that has ended meanwhile, the application has been told no all the same, and
    /// may start again.
    private func startFailed(_ suspended: Grant?) {
        state = .stopped
        guard let suspended, let requester else { return }
        if case .success? = standing(of: requester, holding: suspended) { return }
        state = .suspended(suspended)
    }

    private func isStarting(_ attempt: Int) -> Bool {
        if case .starting(attempt, _) = state { true } else { false }
    }

    private func identify() async throws -> Requester {
        let application: ApplicationIdentity
        do {
            application = try ApplicationIdentity(origin: peer.origin, claim: desktopID)
        } catch {
            throw ServiceError.invalidDesktopID(error)
        }
        return Requester(
            userID: peer.userID, application: application, isPortal: peer.origin.isPortal,
            hasSession: await environment.sessions.hasSession(peer.userID))
    }

    private func activate(_ grant: Grant) {
        state = .active(grant)
        changed("Active")
        environment.clientChanged(number)
        // Before the reply to Start, as clients know it.
        awaitsFirst = true
        deliver(environment.startingPosition(peer.userID))
        countUse(grant)
    }

    private func deactivated() {
        changed("Active")
        environment.clientChanged(number)
    }

    /// Looks again at what is allowed, after a record, a ceiling or the configuration has changed.
    func reconsider() {
        guard let requester else { return }
        switch state {
        case .stopped, .starting: return
        case .active(let old):
            if case .success(let grant) = standing(of: requester, holding: old) {
                guard grant != old else { return }
                state = .active(grant)
                environment.clientChanged(number)
            } else {
                state = .suspended(old)
                locations.withdraw()
                deactivated()
            }
        case .suspended(let old):
            // Leave for one use waits for a Start, which uses it up.
            guard !environment.authorizer.hasLeaveForOnce(requester) else { return }
            if case .success(let grant) = standing(of: requester, holding: old) { activate(grant) }
        }
    }

    /// A client whose user would have to be asked again stands on nothing; the next Start asks.
    private func standing(of requester: Requester, holding old: Grant) -> Result<Grant, Denial>? {
        environment.authorizer.standing(of: requester, requesting: startedLevel, holding: old)
    }

    /// Once for each Start, each further day, and each finer level.
    private func countUse(_ grant: Grant) {
        let day = environment.authorizer.today
        guard let requester, countedUse.map({ $0.day < day || $0.level < grant.level }) ?? true else { return }
        countedUse = (day, grant.level)
        environment.authorizer.noteUse(of: requester, at: grant.level)
    }

    // MARK: Positions

    /// Tells the owner what it may know of `position`, if its thresholds let it through.
    func deliver(_ position: Position) {
        guard let grant, let fix = grant.disclose(position) else { return }
        hasMissed = environment.connection.isCongested
        guard !hasMissed else { return environment.deliveryMissed() }
        // Whatever became of the timer: the system clock may have been set.
        guard !grant.hasExpired(at: Timestamp(microseconds: environment.clock.wallTime)) else {
            return environment.authorizer.expireRecords()
        }
        if !awaitsFirst, let current = locations.current {
            guard fix != current else { return }
            guard threshold.passes(fix.coordinate, at: fix.timestamp) else { return refresh(fix) }
        }
        announce(fix)
    }

    private func announce(_ fix: DisclosedFix) {
        if let grant { countUse(grant) }
        awaitsFirst = false
        threshold.deliver(fix.coordinate, at: fix.timestamp)
        let old = locations.path
        if locations.append(fix, now: environment.clock.now) { environment.locationReplaced() }
        let new = locations.path
        send {
            let signals = try fixSignals()
            try environment.connection.emit(signals.updated, old, new)
            try environment.connection.emitPropertyChanged(signals.changed, Self.location, new)
        }
    }

    /// Keeps the current object up to date while the thresholds hold its successor back.
    private func refresh(_ fix: DisclosedFix) {
        guard let old = locations.current else { return }
        locations.refresh(fix)
        let changes = LocationObject.changes(from: old, to: fix)
        send {
            try environment.connection.emitPropertiesChanged(locations.path, GeoClueNames.location, to: owner, changes)
        }
    }

    /// What goes out with every fix; made with the first.
    private func fixSignals() throws -> (updated: SignalTemplate, changed: SignalTemplate) {
        if let signals { return signals }
        let made = try (
            updated: SignalTemplate(path, GeoClueNames.client, "LocationUpdated", to: owner),
            changed: SignalTemplate.propertiesChanged(path, GeoClueNames.client, to: owner)
        )
        signals = made
        return made
    }

    private func send(_ body: () throws -> Void) {
        do { try body() } catch { Log.error("cannot tell client \(number) of its position: \(error)") }
    }

    /// Lets go of locations whose time is over.
    ///
    /// - Returns: when the next one will have to go.
    func pruneLocations(now: Duration) -> Duration? { locations.prune(now: now) }

    // MARK: Properties

    private func setDistance(_ metres: UInt32) {
        threshold.distance = Double(metres)
        changed("DistanceThreshold")
    }

    private func setTime(_ seconds: UInt32) {
        threshold.time = seconds
        changed("TimeThreshold")
        if isActive { environment.clientChanged(number) }
    }

    private func setDesktopID(_ id: String) throws(ServiceError) {
        guard id.utf8.count <= Limits.desktopIDLength else { throw .desktopIDTooLong(limit: Limits.desktopIDLength) }
        desktopID = id
        changed("DesktopId")
    }

    /// A coarser level counts at once, a finer one at the next Start.
    private func setLevel(_ level: UInt32) {
        requestedLevel = level
        changed("RequestedAccuracyLevel")
        guard isActive, AccuracyLevel(wire: level) < startedLevel else { return }
        startedLevel = AccuracyLevel(wire: level)
        reconsider()
    }

    private func changed(_ property: MemberName) {
        environment.connection.propertyChanged(property, of: self, at: path, in: Self.interface, to: owner)
    }
}
