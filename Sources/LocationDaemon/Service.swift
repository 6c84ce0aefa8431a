import Authorization
import DBus
import EventLoop
import GeoClueAPI
import Geolocation
import Positioning

/// The service on one bus: joins the positioner, the clients, and those who decide about them.
@ServiceActor
package final class Service {
    /// Called once when nobody has used the service for the idle time.
    package var onIdle: (@ServiceActor () -> Void)?

    /// Called when the machine has slept, before anything starts again.
    package var onWake: (@ServiceActor () -> Void)?

    /// Whether others have reason to keep the service running.
    package var isBusyElsewhere: (@ServiceActor () -> Bool)?

    private let connection: Connection
    private let positioner: Positioner
    private let authorizer: Authorizer
    private let clock: any Clock
    private let idleTime: Duration?

    private let peers: PeerDirectory
    private let clients: ClientRegistry
    private let agents: AgentRegistry
    private let sessions: SessionFollower
    private let sleep: SleepFollower
    private var manager: ManagerObject!

    private var active = ActiveClients()
    private var audience = PositionAudience()
    /// The numbers of the clients that have changed in this turn of the loop.
    private var changed: [UInt64] = []
    /// Whether a user, an agent or the administrator may have taken something back in it.
    private var isLeaveTakenBack = false
    private var isRefreshDue = false
    private var idleTimer: Timer?
    private var pruneTimer: Timer?
    private var catchUp: Timer?
    private var useEnd: Timer?
    private var useBegan: Duration?

    /// The users whose clients may have gained or lost; `nil` among them for all.
    private var reconsidered: Set<UInt32?> = []
    private var departures = 0
    private var trimTimer: Timer?

    /// After so many clients and peers, the memory that they have left free is given back to the system.
    private static let manyDepartures = 100
    /// How long a congested bus is left alone.
    private static let catchUpTime = Duration.seconds(1)
    /// `InUse` stays true for at least this long, so that whoever shows it can show it.
    private static let shortestUse = Duration.seconds(3)

    /// - Parameters:
    ///   - idleTime: how long to go on without any client; `nil` for ever.
    ///   - identify: finds out who calls.
    package init(
        connection: Connection, positioner: Positioner, authorizer: Authorizer, idleTime: Duration?,
        clock: any Clock = LoopClock.shared, identify: @escaping Identification = Peer.identify
    ) {
        self.connection = connection
        self.positioner = positioner
        self.authorizer = authorizer
        self.clock = clock
        self.idleTime = idleTime
        peers = PeerDirectory(connection, identify: identify)
        clients = ClientRegistry(peers: peers)
        sessions = SessionFollower(connection, authorizer: authorizer, clock: clock)
        sleep = SleepFollower(connection, clock: clock)
        let directory = SessionDirectory(connection)
        agents = AgentRegistry(connection: connection, authorizer: authorizer, sessions: directory, clock: clock)
        let environment = ClientEnvironment(
            connection: connection, authorizer: authorizer, sessions: directory, clock: clock,
            startingPosition: { [weak self] in self?.startingPosition(for: $0) ?? Position() },
            clientChanged: { [weak self] in self?.clientChanged($0) },
            deliveryMissed: { [weak self] in self?.catchUpLater() },
            locationReplaced: { [weak self] in self?.schedulePruning(in: Limits.locationLifetime) })
        manager = ManagerObject(peers: peers, clients: clients, agents: agents, environment: environment)
        manager.update(availableLevel: positioner.availableLevel)

        peers.onDeparture = { [weak self] in self?.peerLeft($0) }
        positioner.onUpdate = { [weak self] in self?.positionChanged($0) }
        positioner.onAvailabilityChange = { [weak self] in self?.manager.update(availableLevel: $0) }
        sessions.foreground.onChange = { [weak self] in self?.updateInUse() }
        sleep.onSleep = { [positioner] in positioner.suspend() }
        sleep.onWake = { [weak self, positioner] in
            self?.onWake?()
            positioner.resume()
        }
        authorizer.onChange = { [weak self] in self?.reconsiderSoon($0) }
        connection.objects.add(manager, at: GeoClueNames.managerPath)
        connection.objects.add(clients.branch, below: GeoClueNames.clientBranch)
    }

    /// Looks for receivers. Called once the bus has been asked for the first name, so that the name need not wait for it,
    /// and whoever calls that name finds out at once what can be had.
    package func start() {
        positioner.discover()
        sessions.start()
        sleep.start()
        updateIdleTimer()
    }

    /// One line for each client, without coordinates.
    package func logClients() {
        Log.notice("\(clients.clients.count) clients, \(active.clients.count) of them active")
        for client in clients.inOrder {
            let level = client.grant.map { "active at level \($0.level.rawValue)" } ?? "not active"
            Log.notice("client \(client.number) of user \(client.peer.userID): \(level)")
        }
    }

    // MARK: Positions

    private func startingPosition(for userID: UInt32) -> Position {
        audience.position(positioner.startingPosition, for: userID)
    }

    private func positionChanged(_ position: Position) {
        // Nobody is told by leave that has been taken back.
        reconsiderClients()
        // Whoever was let in a moment ago is told.
        updateActive()
        audience.note(position, for: active.userIDs)
        tell(position) { _ in true }
    }

    private func tell(_ position: Position, _ isConcerned: (ClientObject) -> Bool) {
        let isWhole = audience.isWhole(position, for: active.userIDs)
        // Whoever loses its leave by being told changes the list.
        for client in active.clients where isConcerned(client) {
            client.deliver(isWhole ? position : audience.position(position, for: client.peer.userID))
        }
    }

    /// What clients were not told while the bus was congested, they are told once it is not. No fix may come to do it.
    private func catchUpLater() {
        guard catchUp == nil else { return }
        catchUp = clock.after(Self.catchUpTime) { [weak self] in
            guard let self else { return }
            catchUp = nil
            tell(positioner.position, \.hasMissed)
        }
    }

    private func schedulePruning(in delay: Duration) {
        guard pruneTimer == nil else { return }
        pruneTimer = clock.after(delay) { [weak self] in self?.prune() }
    }

    private func prune() {
        pruneTimer = nil
        let now = clock.now
        let next = clients.clients.values.compactMap { $0.pruneLocations(now: now) }.min()
        if let next { schedulePruning(in: max(next - now, .milliseconds(500))) }
    }

    // MARK: Clients

    private func peerLeft(_ name: BusName) {
        for client in clients.removeAll(of: name) {
            client.end()
            clientChanged(client.number)
        }
        agents.removeAll(of: name)
        noteDeparture()
    }

    private func noteDeparture() {
        departures += 1
        guard departures == Self.manyDepartures else { return }
        trimTimer = clock.after(.seconds(1)) { [weak self] in
            self?.departures = 0
            Memory.releaseUnused()
        }
    }

    /// An agent may change its mind faster than its clients can be told, so they are told once a turn of the loop.
    private func reconsiderSoon(_ user: UInt32?) {
        if reconsidered.isEmpty { EventLoop.shared.defer { [weak self] in self?.reconsiderClients() } }
        reconsidered.insert(user)
    }

    private func reconsiderClients() {
        guard !reconsidered.isEmpty else { return }
        let users = reconsidered
        reconsidered = []
        let count = changed.count
        for client in clients.inOrder where users.contains(nil) || users.contains(client.peer.userID) {
            client.reconsider()
        }
        if changed.count > count || users.contains(where: { $0.map(authorizer.isSwitchedOff) ?? true }) {
            isLeaveTakenBack = true
        }
        // What counts as use may have changed with the configuration.
        refreshSoon()
    }

    private func clientChanged(_ number: UInt64) {
        changed.append(number)
        refreshSoon()
    }

    /// Clients change in bursts, so what follows from all of them is worked out once a turn of the loop.
    private func refreshSoon() {
        guard !isRefreshDue else { return }
        isRefreshDue = true
        EventLoop.shared.defer { [weak self] in self?.refresh() }
    }

    private func refresh() {
        isRefreshDue = false
        updateActive()
        positioner.demand = active.demand
        if isLeaveTakenBack { positioner.endGrace() }
        isLeaveTakenBack = false
        sessions.foreground.follow(active.userIDs)
        updateInUse()
        updateIdleTimer()
    }

    private func updateActive() {
        for number in changed {
            let client = clients.clients[number]
            if client == nil { noteDeparture() }
            active.update(number, client)
        }
        changed.removeAll(keepingCapacity: true)
    }

    private func updateInUse() {
        if active.isAnyUse(by: authorizer.policy, of: sessions.foreground) {
            useEnd = nil
            if useBegan == nil { useBegan = clock.now }
            manager.update(isInUse: true)
        } else if let began = useBegan, useEnd == nil {
            useEnd = clock.after(began + Self.shortestUse - clock.now) { [weak self] in
                self?.useEnd = nil
                self?.useBegan = nil
                self?.manager.update(isInUse: false)
            }
        }
    }

    // MARK: Idle

    private func updateIdleTimer() {
        guard let idleTime, clients.isEmpty else {
            idleTimer = nil
            return
        }
        guard idleTimer == nil else { return }
        idleTimer = clock.after(idleTime) { [weak self] in
            guard let self else { return }
            idleTimer = nil
            if isIdle { onIdle?() } else { updateIdleTimer() }
        }
    }

    private var isIdle: Bool {
        clients.isEmpty && !connection.objects.isServing && authorizer.openQuestions == 0
            && !(isBusyElsewhere?() ?? false)
    }

    /// Waits for idleness again, when it has not been left for.
    package func stay() { updateIdleTimer() }
}
