import DBus
import EventLoop

/// Knows how the machine is connected by the kernel's routes, and by NetworkManager where there is one.
///
/// The kernel knows which way packets go, whoever has set it up: a program, an administrator, NetworkManager. It is the
/// truth about ways and tunnels. NetworkManager adds what no route tells: that a sign-in page stands before the
/// internet, that another network lies behind the same router's address, that a point-to-point link is no VPN. A machine
/// is online if either says so, and where neither can be asked.
@ServiceActor
package final class NetworkMonitor: NetworkFollowing {
    package private(set) var state = NetworkState(isOnline: false) {
        didSet { if state != oldValue { observers.notify() } }
    }

    /// A new connection makes itself known by a dozen changes of routes; the kernel is asked once in this time.
    private static let rest = Duration.milliseconds(500)

    private let makeKernel: @ServiceActor () -> any RouteFollowing
    private let connection: Connection
    private var kernel: (any RouteFollowing)?
    private var manager: NetworkManagerFollower?
    private let clock: any Clock
    private let observers = Observers()
    private var routes: RouteState?
    private var identity = Identity()

    /// What makes one attachment another one.
    private struct Identity: Hashable {
        var ways: [RouteState.Way]?
        /// What NetworkManager said last: its leaving changes no network.
        var primary: ObjectPath?
        var isTunnelled = false
    }

    /// - Parameter connection: to the bus that NetworkManager is on.
    package convenience init(connection: Connection, clock: any Clock) {
        self.init(kernel: KernelRoutes(), connection: connection, clock: clock)
    }

    init(
        kernel: @autoclosure @escaping @ServiceActor () -> any RouteFollowing, connection: Connection, clock: any Clock
    ) {
        makeKernel = kernel
        self.connection = connection
        self.clock = clock
    }

    package func discover() {
        guard kernel == nil else { return }
        kernel = makeKernel()
        manager = NetworkManagerFollower(connection, clock: clock)
        let looking = PacedJob(rest: Self.rest, restsFirst: true, clock: clock) { [weak self] in self?.look() }
        kernel?.onChange = { looking.request() }
        manager?.onChange = { [weak self] in self?.update() }
        look()
    }

    package func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }

    private func look() {
        routes = kernel?.look()
        update()
    }

    private func update() {
        let connections = manager?.connections
        var next = state
        let isReached = [routes.map { !$0.ways.isEmpty }, connections?.isConnected].compactMap(\.self)
        next.isOnline = (isReached.isEmpty || isReached.contains(true)) && connections?.isBehindPortal != true
        next.isTunnelled =
            connections?.isTunnelled == true || routes?.leads(over: .tunnel) == true
            || routes?.leads(over: .pointToPoint) == true && connections?.isPointToPoint != true
        let found = Identity(
            ways: routes?.ways, primary: connections?.primary ?? identity.primary, isTunnelled: next.isTunnelled)
        if found != identity { next.attachment += 1 }
        identity = found
        if next.isOnline != state.isOnline { Log.debug("the network is \(next.isOnline ? "there" : "gone")") }
        if next.isTunnelled != state.isTunnelled {
            Log.debug(next.isTunnelled ? "the network leads through a tunnel" : "the network has no tunnel any more")
        }
        state = next
    }
}
