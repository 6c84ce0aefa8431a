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
    private var signals: SignalSource?

    nonisolated init(_ options: Options) {
        self.options = options
        configuration = Configuration()
    }

    func start() async {
        if options.isVerbose { Log.level = .debug }
        signals = SignalSource([SIGTERM, SIGINT, SIGHUP, SIGUSR1]) { [self] in receive($0) }
        configuration = loadConfiguration()
        do {
            try await serve()
        } catch {
            Log.error("cannot serve on the \(options.bus) bus: \(error.message)")
            EventLoop.shared.stop(1)
        }
    }

    private func serve() async throws(BusError) {
        let connection = try Connection(BusAddress(options.bus))
        self.connection = connection
        connection.onDisconnect = {
            Log.error("the connection to the bus is lost")
            EventLoop.shared.stop(1)
        }
        let factory = SourceFactory(connection: connection, clock: LoopClock.shared)
        self.factory = factory
        let positioner = Positioner(sources: factory.sources(for: configuration), clock: LoopClock.shared)
        let authorizer = Authorizer(
            policy: AccessPolicy(configuration), store: MemoryRecordStore(), clock: LoopClock.shared)
        let service = Service(
            connection: connection, positioner: positioner, authorizer: authorizer,
            idleTime: options.idleSeconds > 0 ? .seconds(options.idleSeconds) : nil)
        service.onIdle = { [self] in
            Log.info("nobody has asked for \(options.idleSeconds) s")
            finish()
        }
        (self.positioner, self.authorizer, self.service) = (positioner, authorizer, service)

        for name in busNames where try await connection.requestName(name) == .taken {
            Log.notice("\(name) belongs to another program; leaving it the field")
            return finish()
        }
        service.start()
    }

    /// In the order in which they are asked for. Where the first is taken, another location service is running.
    private var busNames: [BusName] {
        (configuration.bus.ownsGeoClueName ? [GeoClueNames.busName] : []) + ["org.whereabouts1"]
    }

    private func finish() {
        connection?.flush()
        EventLoop.shared.stop(0)
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
        configuration = loadConfiguration()
        authorizer?.policy = AccessPolicy(configuration)
        if let factory { positioner?.replaceSources(factory.sources(for: configuration)) }
        Log.notice("the configuration has been read again")
    }

    private func loadConfiguration() -> Configuration {
        let (configuration, faults) = Configuration.load(for: options)
        for fault in faults { Log.warning("\(fault)") }
        return configuration
    }
}
