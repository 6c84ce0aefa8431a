import Authorization
import DBus
import EventLoop
import GeoClueAPI
import Glibc
import KeyFile
import LocationDaemon
import LocationSources
import Positioning

/// The program: reads the configuration, builds the parts, and ends when a signal, the bus or idleness says so.
@ServiceActor
final class Daemon {
    private let options: Options
    private var configuration: Configuration
    private var factory: SourceFactory?
    private var connection: Connection?
    private var positioner: Positioner?
    private var authorizer: Authorizer?
    private var service: Service?
    private var store: SQLiteRecordStore?
    /// Whatever is for users and administrators alone has a connection of its own.
    private var controlConnection: Connection?
    private var control: ControlObject?
    /// In the order in which they are asked for. Where the first is taken, another location service is running.
    private var names: [(Connection, BusName)] = []
    private var signals: SignalSource?
    private var finishTimer: Timer?
    private var isBusLost = false

    nonisolated init(_ options: Options) {
        self.options = options
        configuration = Configuration()
    }

    func start() async {
        if options.isVerbose { Log.level = .debug }
        let (configuration, faults) = Configuration.load(for: options)
        log(faults)
        // What forbids something may be in the file that cannot be read.
        guard !faults.contains(where: \.hidesFile) else {
            Log.error("the configuration cannot be read; nothing is started")
            return EventLoop.shared.stop(1)
        }
        self.configuration = configuration
        do {
            try await serve()
        } catch {
            // A bus that goes during the start has been reported already.
            if !isBusLost { Log.error("cannot serve on the \(options.bus) bus: \(error.message)") }
            EventLoop.shared.stop(1)
        }
    }

    private func serve() async throws(BusError) {
        let connection = try connect()
        let controlConnection = try connect()
        (self.connection, self.controlConnection) = (connection, controlConnection)
        names = [(connection, WhereaboutsNames.busName), (controlConnection, WhereaboutsNames.controlBusName)]
        if configuration.bus.ownsGeoClueName { names.insert((connection, GeoClueNames.busName), at: 0) }
        // Not before: connecting blocks, and a signal is to end that.
        signals = SignalSource([SIGTERM, SIGINT, SIGHUP, SIGUSR1]) { [self] in receive($0) }
        let store = SQLiteRecordStore(
            in: StateDirectory(option: options.stateDirectory, environment: Self.environment("STATE_DIRECTORY")),
            clock: LoopClock.shared)
        self.store = store
        let factory = SourceFactory(connection: connection, clock: LoopClock.shared)
        self.factory = factory
        let positioner = Positioner(sources: factory.sources(for: configuration), clock: LoopClock.shared)
        factory.isPositionSharp = { [weak positioner] in positioner?.isSharp ?? false }
        positioner.onAcceptance = { [weak factory] in factory?.note($0) }
        let authorizer = Authorizer(
            policy: AccessPolicy(configuration), store: store, clock: LoopClock.shared)
        let service = Service(
            connection: connection, positioner: positioner, authorizer: authorizer,
            idleTime: options.idleSeconds > 0 ? .seconds(options.idleSeconds) : nil)
        service.onIdle = { [self] in
            Log.info("nobody has asked for \(options.idleSeconds) s")
            ServiceActor.start { await self.leave() }
        }
        // The machine may have been carried anywhere.
        service.onWake = { factory.forget() }
        let control = ControlObject(connection: controlConnection, authorizer: authorizer)
        service.isBusyElsewhere = { controlConnection.objects.isServing }
        (self.positioner, self.authorizer, self.service) = (positioner, authorizer, service)
        self.control = control

        // While the bus sees to the first name, which lets in whoever has the service started by asking what can be had.
        ServiceActor.task { service.start() }
        for (connection, name) in names where try await connection.requestName(name) == .taken {
            Log.notice("\(name) belongs to another program; leaving it the field")
            return finish()
        }
        positioner.compass = factory.compass(for: configuration)
    }

    private func connect() throws(BusError) -> Connection {
        let connection = try Connection(BusAddress(options.bus))
        connection.onDisconnect = { [self] in
            // Both connections end with the bus, which is one loss.
            if !isBusLost { Log.error("the connection to the bus is lost") }
            isBusLost = true
            EventLoop.shared.stop(1)
        }
        return connection
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// `--check` names all of them.
    private static let faultsLogged = 50

    /// How long a disk or the bus may keep the service from leaving.
    private static let finishLimit = Duration.seconds(5)

    /// Leaves for want of work, unless somebody calls just now. From the release of its name on the bus starts another
    /// service for whoever calls; those who have called before are served by this one or, where it has to leave, are told
    /// by the bus that it has.
    private func leave() async {
        let connections = [connection, controlConnection].compactMap { $0 }
        for connection in connections { connection.holdsCalls = true }
        // systemd's first: whoever then finds another one without an owner waits for this process to end.
        for (connection, name) in names.reversed() { try? await connection.releaseName(name) }
        guard connections.contains(where: \.hasHeldCalls), !Self.isUnit, finishTimer == nil else { return finish() }
        for (connection, name) in names where (try? await connection.requestName(name)) != .owned {
            // Somebody else serves from now on; those who wait are told by the bus that this one has gone.
            return finish()
        }
        for connection in connections { connection.holdsCalls = false }
        service?.stay()
    }

    /// Whether systemd has started this process (systemd.exec(5), “SYSTEMD_EXEC_PID”). It ends a unit that gives its name
    /// back (systemd.service(5), “Type=dbus”), so that nothing can be taken back there.
    private static var isUnit: Bool { environment("SYSTEMD_EXEC_PID") == String(getpid()) }

    private func finish() {
        guard finishTimer == nil else { return }
        finishTimer = LoopClock.shared.after(Self.finishLimit) { EventLoop.shared.stop(0) }
        // Nothing is left switched on, in a modem for example.
        positioner?.replaceSources([])
        positioner?.compass = nil
        factory?.end()
        ServiceActor.start { [self] in
            await store?.finish()
            await connection?.sent()
            await controlConnection?.sent()
            EventLoop.shared.stop(0)
        }
    }

    // MARK: Signals

    private func receive(_ signal: Int32) {
        switch signal {
        case SIGHUP: reload()
        case SIGUSR1: service?.logClients()
        default: finish()
        }
    }

    private func reload() {
        guard finishTimer == nil else { return }
        let (configuration, faults) = Configuration.load(for: options)
        log(faults)
        guard !faults.contains(where: \.hidesEntries) else {
            return Log.error("the configuration cannot be read in full; the one in force stays")
        }
        self.configuration = configuration
        authorizer?.policy = AccessPolicy(configuration)
        factory?.forget()
        if let factory {
            positioner?.replaceSources(factory.sources(for: configuration))
            positioner?.compass = factory.compass(for: configuration)
        }
        Log.notice("the configuration has been read again")
    }

    private func log(_ faults: [ConfigurationFault]) {
        for fault in faults.prefix(Self.faultsLogged) { Log.warning(fault.logLine) }
        if faults.count > Self.faultsLogged { Log.warning("and \(faults.count - Self.faultsLogged) faults more") }
    }
}
