import DBus
import EventLoop
import KeyFile
import LocationSources
import Positioning
import Routes

/// Makes the sources that a configuration asks for, and hands out again those whose part of it has not changed.
@ServiceActor
final class SourceFactory {
    private let connection: Connection
    private let clock: any Clock
    private var made: [Plan: any LocationSource] = [:]

    /// All that makes a source what it is.
    private enum Plan: Hashable {
        case gpsd(StreamAddress)
        case nmeaSocket(StreamAddress)
        case nmeaTCP(StreamAddress)
        case networkNMEA
        case nmeaSerial(device: String, speed: Int?)
        case fixedPlace(path: String)
        case drive(speed: Double)
        /// With all its points, so a file that has changed makes another source.
        case route(Route, speed: Double)
    }

    /// - Parameter connection: to the bus on which the services of the system are.
    init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

    func sources(for configuration: Configuration) -> [any LocationSource] {
        var next: [Plan: any LocationSource] = [:]
        let sources = plans(for: configuration).map { plan in
            let source = made[plan] ?? source(for: plan)
            next[plan] = source
            return source
        }
        made = next
        return sources
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
        if configuration.staticSource.isEnabled { plans.append(.fixedPlace(path: configuration.staticSource.path)) }
        if configuration.simulation.isEnabled, let plan = plan(for: configuration.simulation) { plans.append(plan) }
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
        case .fixedPlace(let path): FixedPlaceSource(path: path, clock: clock)
        case .drive(let speed): SimulatedSource(speed: speed, clock: clock)
        case .route(let route, let speed): RouteSource(route: route, speed: speed, clock: clock)
        }
    }
}

extension StreamAddress {
    /// The address of a configuration, which is one of digits already.
    fileprivate init(_ endpoint: Endpoint) { self = .tcp(host: endpoint.host, port: endpoint.port) }
}
