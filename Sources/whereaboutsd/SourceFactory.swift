import DBus
import EventLoop
import Geolocation
import KeyFile
import LocationSources
import Positioning
import Routes

/// Makes the sources that a configuration asks for, and hands out again those whose part of it has not changed.
@ServiceActor
final class SourceFactory {
    /// Whether what is known of the place is so sharp that no other source need look.
    var isPositionSharp: (@ServiceActor () -> Bool)?

    private let connection: Connection
    private let clock: any Clock
    private var made: [Plan: any LocationSource] = [:]

    private let lookups: LookupFactory
    private var submitter: Submitter?
    private var submission: Configuration.WiFi?
    private lazy var compass = Compass(connection: connection, clock: clock)
    private lazy var modems = ModemDirectory(connection: connection, clock: clock)
    private lazy var isSharp: @ServiceActor () -> Bool = { [weak self] in self?.isPositionSharp?() ?? false }

    /// All that makes a source what it is.
    private enum Plan: Hashable {
        case gpsd(StreamAddress)
        case nmeaSocket(StreamAddress)
        case nmeaTCP(StreamAddress)
        case networkNMEA
        case nmeaSerial(device: String, speed: Int?)
        case modemGNSS
        case wifi(providers: [String])
        /// Without providers cells are left out.
        case cell(providers: [String], usesBaseStations: Bool)
        case ip(providers: [String], accuracy: Double?)
        case timeZone
        case fixedPlace(path: String)
        case drive(speed: Double)
        /// With all its points, so a file that has changed makes another source.
        case route(Route, speed: Double)

        /// Whom it asks, if it asks others.
        var providers: [String]? {
            switch self {
            case .wifi(let providers), .cell(let providers, _), .ip(let providers, _): providers
            default: nil
            }
        }
    }

    /// - Parameter connection: to the bus on which the services of the system are.
    init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
        lookups = LookupFactory(connection: connection, clock: clock)
    }

    func sources(for configuration: Configuration) -> [any LocationSource] {
        var next: [Plan: any LocationSource] = [:]
        let sources = plans(for: configuration).map { plan in
            let source = made[plan] ?? source(for: plan)
            next[plan] = source
            return source
        }
        made = next
        lookups.keep(Set(next.keys.compactMap(\.providers)))
        updateSubmitter(configuration.wifi)
        return sources
    }

    /// The compass, if it may be used.
    func compass(for configuration: Configuration) -> Compass? { configuration.compass.isEnabled ? compass : nil }

    /// Takes in a fix that was believed, for those who want what is received there to be reported.
    func note(_ fix: Fix) { submitter?.note(fix) }

    /// Forgets what others have said of the place, and what was to be said of it, as before a sleep.
    func forget() {
        lookups.forget()
        submitter?.forget()
    }

    /// Lets go of what would outlive the service.
    func end() { lookups.end() }

    private func updateSubmitter(_ wifi: Configuration.WiFi) {
        guard wifi != submission else { return }
        submission = wifi
        submitter = nil
        guard wifi.submitsData, let service = wifi.submissionURL.flatMap({ LookupProvider($0) }) else { return }
        submitter = Submitter(
            service: service, nickname: wifi.submissionNick, transport: lookups.transport, network: lookups.network,
            userAgent: lookups.userAgent, clock: clock)
    }

    private func plans(for configuration: Configuration) -> [Plan] {
        var plans: [Plan] = []
        if configuration.gpsd.isEnabled {
            if let path = configuration.gpsd.socket {
                if let address = address(path, of: "[gpsd] address") { plans.append(.gpsd(address)) }
            } else {
                plans.append(.gpsd(StreamAddress(configuration.gpsd.address)))
            }
        }
        if configuration.networkNMEA.isEnabled, let path = configuration.networkNMEA.socket,
            let address = address(path, of: "[network-nmea] nmea-socket")
        {
            plans.append(.nmeaSocket(address))
        }
        if configuration.networkNMEA.isEnabled, configuration.networkNMEA.discovers { plans.append(.networkNMEA) }
        if let address = configuration.nmea.tcp { plans.append(.nmeaTCP(StreamAddress(address))) }
        if let device = configuration.nmea.device {
            plans.append(.nmeaSerial(device: device, speed: configuration.nmea.speed))
        }
        if configuration.modemGPS.isEnabled { plans.append(.modemGNSS) }
        if configuration.timeZone.isEnabled { plans.append(.timeZone) }
        if configuration.staticSource.isEnabled { plans.append(.fixedPlace(path: configuration.staticSource.path)) }
        // After what knows the place at once, and spares the question.
        plans += lookupPlans(for: configuration)
        if configuration.simulation.isEnabled, let plan = plan(for: configuration.simulation) { plans.append(plan) }
        return plans
    }

    /// The sources that ask others. A base station of CDMA says itself where it is.
    private func lookupPlans(for configuration: Configuration) -> [Plan] {
        var plans: [Plan] = []
        let providers = configuration.lookupProviders
        let cellProviders = configuration.cell3G.isEnabled ? providers : []
        let usesBaseStations = configuration.cdma.isEnabled
        if !cellProviders.isEmpty || usesBaseStations {
            plans.append(.cell(providers: cellProviders, usesBaseStations: usesBaseStations))
        }
        if !providers.isEmpty, configuration.wifi.isEnabled {
            plans.append(.wifi(providers: providers))
        }
        let ipProviders = configuration.ip.url.map { [$0] } ?? providers
        if !ipProviders.isEmpty, configuration.ip.isEnabled {
            plans.append(.ip(providers: ipProviders, accuracy: configuration.ip.accuracy))
        }
        return plans
    }

    /// The address of a Unix socket, whose path may be longer than the kernel takes.
    private func address(_ path: String, of key: String) -> StreamAddress? {
        do {
            return try StreamAddress(path, defaultPort: 0)
        } catch {
            Log.warning("\(key): \(error)")
            return nil
        }
    }

    private func wifi(_ providers: [String]) -> WiFiSource {
        let source = WiFiSource(connection: connection, lookup: lookups.chain(of: providers), clock: clock)
        source.isPositionSharp = isSharp
        // Whoever reports what can be received has to look, above all where the place is known.
        source.isScanWanted = { [weak self] in self?.submitter != nil }
        source.onScan = { [weak self] in self?.submitter?.note($0) }
        return source
    }

    private func cell(_ providers: [String], usesBaseStations: Bool) -> CellSource {
        // A chain of nobody would still follow the network.
        let source = CellSource(
            directory: modems, lookup: providers.isEmpty ? nil : lookups.chain(of: providers),
            usesBaseStations: usesBaseStations, clock: clock)
        source.isPositionSharp = isSharp
        return source
    }

    private func ip(_ providers: [String], accuracy: Double?) -> IPSource {
        let source = IPSource(
            lookup: lookups.chain(of: providers), network: lookups.network, accuracy: accuracy, clock: clock)
        source.isPositionSharp = isSharp
        return source
    }

    /// - Returns: `nil` if the route cannot be read. Another one in its place would be taken for it.
    private func plan(for simulation: Configuration.Simulation) -> Plan? {
        guard let file = simulation.file else { return .drive(speed: simulation.speed) }
        do {
            return .route(try Route.load(file), speed: simulation.speed)
        } catch {
            Log.warning("[simulation] file: \(error)")
            return nil
        }
    }

    private func source(for plan: Plan) -> any LocationSource {
        switch plan {
        case .gpsd(let address): GPSDSource(address: address, clock: clock)
        case .nmeaSocket(let address): NMEASocketSource(address: address, clock: clock)
        case .nmeaTCP(let address): NMEASocketSource(name: "nmea-tcp", address: address, clock: clock)
        case .networkNMEA: NetworkNMEASource(connection: connection, clock: clock)
        case .nmeaSerial(let device, let speed): NMEASerialSource(device: device, speed: speed, clock: clock)
        case .modemGNSS: ModemGNSSSource(directory: modems, clock: clock)
        case .wifi(let providers): wifi(providers)
        case .cell(let providers, let usesBaseStations): cell(providers, usesBaseStations: usesBaseStations)
        case .ip(let providers, let accuracy): ip(providers, accuracy: accuracy)
        case .timeZone: FilePlaceSource.timeZone(clock: clock)
        case .fixedPlace(let path): FilePlaceSource.fixed(path, clock: clock)
        case .drive(let speed): SimulatedSource(speed: speed, clock: clock)
        case .route(let route, let speed): RouteSource(route: route, speed: speed, clock: clock)
        }
    }
}

extension Configuration {
    /// Where places are looked up, the preferred one first.
    fileprivate var lookupProviders: [String] { (wifi.url.map { [$0] } ?? []) + lookup.providers }
}

extension StreamAddress {
    /// The address of a configuration, which is one of digits already.
    fileprivate init(_ endpoint: Endpoint) { self = .tcp(host: endpoint.host, port: endpoint.port) }
}
