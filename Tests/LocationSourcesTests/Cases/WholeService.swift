import Authorization
import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import LocationDaemon
import LocationTestSupport
import Positioning
import Testing

/// The whole service in this process, on a bus of its own, with sources and a clock that the test drives.
@ServiceActor
final class WholeService {
    let clock: ManualClock
    let positioner: Positioner

    private let bus: PrivateBus
    private let connection: Connection
    private let service: Service

    /// - Parameters:
    ///   - bus: with the neighbours of the service, where it has any.
    ///   - onWake: what the program does after a sleep.
    init(
        _ sources: [any LocationSource], clock: ManualClock, bus: PrivateBus? = nil,
        store: any RecordStore = MemoryRecordStore(), onWake: (@ServiceActor () -> Void)? = nil
    ) async throws {
        self.clock = clock
        self.bus = if let bus { bus } else { try await PrivateBus() }
        let bus = self.bus
        connection = try bus.connect()
        positioner = Positioner(sources: sources, clock: clock)
        let authorizer = Authorizer(policy: AccessPolicy(), store: store, clock: clock)
        service = Service(
            connection: connection, positioner: positioner, authorizer: authorizer, idleTime: nil, clock: clock)
        service.onWake = onWake
        try await connection.takeName(GeoClueNames.busName)
        service.start()
    }

    /// A new application that has a client, and has not started it.
    func application() async throws -> Application { try await Application(bus.connect()) }

    /// A new application whose client runs.
    func startedApplication(
        level: AccuracyLevel = .exact, distance: UInt32 = 0, time: UInt32 = 0
    ) async throws -> Application {
        let application = try await application()
        try await application.set("DesktopId", .string("org.example.App"))
        try await application.set("DistanceThreshold", .uint32(distance))
        try await application.set("TimeThreshold", .uint32(time))
        try await application.start(level: level)
        return application
    }

    isolated deinit { connection.close() }
}

/// What an application sees of the service.
@ServiceActor
final class Application {
    /// A Location object as the application reads it.
    struct Location: Equatable {
        let latitude, longitude, accuracy, altitude, speed, heading: Double
        let description: String
        /// In seconds since the epoch.
        let timestamp: UInt64
    }

    /// One for each LocationUpdated, in order.
    private(set) var locations: [Location] = []
    /// The levels that the manager has announced, in order.
    private(set) var levels: [UInt32] = []

    private let connection: Connection
    private let client: ObjectPath
    private var updates: Subscription?
    private var changes: Subscription?
    private var announced = 0

    fileprivate init(_ connection: Connection) async throws {
        self.connection = connection
        client = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "GetClient",
            returning: ObjectPath.self)
        updates = connection.subscribe(
            to: MatchRule(path: client, interface: GeoClueNames.client, member: "LocationUpdated")
        ) { [weak self] signal in
            guard let (_, location) = try? signal.read(as: ObjectPath.self, ObjectPath.self) else { return }
            self?.announced += 1
            ServiceActor.start { [weak self] in await self?.read(location) }
        }
        let rule = MatchRule(
            path: GeoClueNames.managerPath, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
        changes = connection.subscribe(to: rule) { [weak self] signal in
            guard let (_, changed) = try? signal.read(as: String.self, [String: Variant].self),
                case .uint32(let level)? = changed["AvailableAccuracyLevel"]?.value
            else { return }
            self?.levels.append(level)
        }
    }

    isolated deinit { connection.close() }

    func set(_ property: String, _ value: Value) async throws {
        _ = try await connection.call(
            GeoClueNames.busName, client, "org.freedesktop.DBus.Properties", "Set", GeoClueNames.client.string,
            property, Variant(value))
    }

    /// What the manager says can be had.
    func availableLevel() async throws -> UInt32 {
        let value = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, "org.freedesktop.DBus.Properties", "Get",
            GeoClueNames.manager.string, "AvailableAccuracyLevel", returning: Variant.self)
        guard case .uint32(let level) = value.value else { return .max }
        return level
    }

    func start(level: AccuracyLevel = .exact) async throws {
        try await set("RequestedAccuracyLevel", .uint32(level.rawValue))
        _ = try await connection.call(.methodCall(to: GeoClueNames.busName, client, GeoClueNames.client, "Start"))
        // The demand follows at the end of the loop's turn; a call later it has.
        await settle()
    }

    func stop() async throws {
        _ = try await connection.call(.methodCall(to: GeoClueNames.busName, client, GeoClueNames.client, "Stop"))
        await settle()
    }

    /// Comes back when all updates so far are in ``locations``.
    func settle() async {
        // Whatever the service has sent before the answer has come before it.
        _ = try? await connection.call(
            .methodCall(to: GeoClueNames.busName, GeoClueNames.managerPath, "org.freedesktop.DBus.Peer", "Ping"))
        await until { self.locations.count == self.announced }
    }

    private func read(_ path: ObjectPath) async {
        let properties = try? await connection.call(
            GeoClueNames.busName, path, "org.freedesktop.DBus.Properties", "GetAll", GeoClueNames.location.string,
            returning: [String: Variant].self)
        func number(_ name: String) -> Double {
            if case .double(let value)? = properties?[name]?.value { value } else { .nan }
        }
        var description = ""
        if case .string(let text)? = properties?["Description"]?.value { description = text }
        var timestamp: UInt64 = 0
        if case .structure(let parts)? = properties?["Timestamp"]?.value, case .uint64(let seconds)? = parts.first {
            timestamp = seconds
        }
        locations.append(
            Location(
                latitude: number("Latitude"), longitude: number("Longitude"), accuracy: number("Accuracy"),
                altitude: number("Altitude"), speed: number("Speed"), heading: number("Heading"),
                description: description, timestamp: timestamp))
    }
}
