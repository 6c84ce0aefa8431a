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

    private let connection: Connection
    private let positioner: Positioner
    private let authorizer: Authorizer
    private let clock: any Clock
    private let idleTime: Duration?

    private let peers: PeerDirectory
    private let clients = ClientRegistry()
    private let agents: AgentRegistry
    private var manager: ManagerObject!

    /// The clients that are told of positions, in the order in which they were made.
    private var active: [ClientObject] = []
    private var isRefreshPending = false
    private var idleTimer: Timer?
    private var pruneTimer: Timer?
    private var useEnd: Timer?
    private var useBegan: Duration?

    /// `InUse` stays true for at least this long, so that whoever shows it can show it.
    private static let shortestUse = Duration.seconds(3)

    /// - Parameter idleTime: how long to go on without any client; `nil` for ever.
    package init(
        connection: Connection, positioner: Positioner, authorizer: Authorizer, idleTime: Duration?,
        clock: any Clock = LoopClock.shared
    ) {
        self.connection = connection
        self.positioner = positioner
        self.authorizer = authorizer
        self.clock = clock
        self.idleTime = idleTime
        peers = PeerDirectory(connection)
        agents = AgentRegistry(connection: connection, authorizer: authorizer)
        let environment = ClientEnvironment(
            connection: connection, authorizer: authorizer, sessions: SessionDirectory(connection), clock: clock,
            startingPosition: { positioner.startingPosition },
            clientChanged: { [weak self] in self?.scheduleRefresh() },
            locationReplaced: { [weak self] in self?.schedulePruning(in: Limits.locationLifetime) })
        manager = ManagerObject(peers: peers, clients: clients, agents: agents, environment: environment)
        manager.update(availableLevel: positioner.availableLevel)

        peers.onDeparture = { [weak self] in self?.peerLeft($0) }
        positioner.onUpdate = { [weak self] in self?.positionChanged($0) }
        positioner.onAvailabilityChange = { [weak self] in self?.manager.update(availableLevel: $0) }
        authorizer.onChange = { [weak self] in self?.reconsiderClients(of: $0) }
        connection.objects.add(manager, at: GeoClueNames.managerPath)
        connection.objects.add(clients.branch, below: GeoClueNames.clientBranch)
    }

    /// Looks for receivers. Called once the bus names are owned, so that the first call need not wait for it.
    package func start() {
        positioner.discover()
        updateIdleTimer()
    }

    /// One line for each client, without coordinates.
    package func logClients() {
        Log.notice("\(clients.clients.count) clients, \(active.count) of them active")
        for (number, client) in clients.clients.sorted(by: { $0.key < $1.key }) {
            let level = client.grant.map { "active at level \($0.level.rawValue)" } ?? "not active"
            Log.notice("client \(number) of user \(client.peer.userID): \(level)")
        }
    }

    // MARK: Positions

    private func positionChanged(_ position: Position) {
        for client in active { client.deliver(position) }
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
        for client in clients.removeAll(of: name) { client.end() }
        agents.removeAll(of: name)
        scheduleRefresh()
    }

    private func reconsiderClients(of user: UInt32?) {
        for client in clients.clients.values.sorted(by: { $0.number < $1.number })
        where user == nil || client.peer.userID == user {
            client.reconsider()
        }
    }

    /// Clients change in bursts, so what follows from all of them is worked out once a turn of the loop.
    private func scheduleRefresh() {
        guard !isRefreshPending else { return }
        isRefreshPending = true
        EventLoop.shared.defer { [weak self] in self?.refresh() }
    }

    private func refresh() {
        isRefreshPending = false
        active = clients.clients.values.filter(\.isActive).sorted { $0.number < $1.number }
        positioner.demand = Demand.union(of: active.compactMap(\.demand))
        updateInUse()
        updateIdleTimer()
    }

    private func updateInUse() {
        let isUsed = active.contains { client in
            client.requester.map { !authorizer.policy.isSystemComponent($0.application) } ?? false
        }
        if isUsed {
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
            if authorizer.openQuestions > 0 { updateIdleTimer() } else { onIdle?() }
        }
    }
}
