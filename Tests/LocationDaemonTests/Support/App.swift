import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI

/// An application: one connection, one client, and what it is told.
@ServiceActor
final class App {
    let connection: Connection
    let path: ObjectPath
    /// All that the service sends to this connection, and what is broadcast.
    private let updates: Listener
    private let changes: Listener
    /// Every signal's text, for tests that look for what must not be told.
    private(set) var heard: [Message] = []
    private var everything: Subscription?

    init(_ connection: Connection) async throws {
        self.connection = connection
        path = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "CreateClient",
            returning: ObjectPath.self)
        updates = Listener(connection, MatchRule(path: path, interface: GeoClueNames.client, member: "LocationUpdated"))
        changes = Listener(
            connection,
            MatchRule(path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged"))
        everything = connection.subscribe(to: MatchRule()) { [weak self] in self?.heard.append($0) }
    }

    // MARK: Calls

    func set(_ property: String, _ value: Value) async throws {
        _ = try await call(
            "org.freedesktop.DBus.Properties", "Set", GeoClueNames.client.string, property, Variant(value))
    }

    func get(_ property: String) async throws -> Value {
        try await connection.call(
            GeoClueNames.busName, path, "org.freedesktop.DBus.Properties", "Get", GeoClueNames.client.string, property,
            returning: Variant.self
        ).value
    }

    var isActive: Bool { get async throws { try await get("Active") == .bool(true) } }

    func start() async throws { _ = try await call(GeoClueNames.client, "Start") }

    func stop() async throws { _ = try await call(GeoClueNames.client, "Stop") }

    /// How Start fails; `nil` if it does not.
    func startError() async -> BusError? {
        do {
            try await start()
            return nil
        } catch { return error as? BusError ?? .failed("\(error)") }
    }

    private func call<each A: DBusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each A
    ) async throws -> Message {
        let message = Message.methodCall(to: GeoClueNames.busName, path, interface, member)
        try message.append(repeat each arguments)
        return try await connection.call(message)
    }

    // MARK: What it is told

    /// The path of the next location.
    func nextLocation() async throws -> ObjectPath {
        try await updates.next().read(as: ObjectPath.self, ObjectPath.self).1
    }

    /// Reads a location, as an application does.
    func read(_ location: ObjectPath) async throws -> [String: Variant] {
        try await connection.call(
            GeoClueNames.busName, location, "org.freedesktop.DBus.Properties", "GetAll", GeoClueNames.location.string,
            returning: [String: Variant].self)
    }

    /// Latitude and longitude of the next location.
    func nextPlace() async throws -> [Double] {
        let values = try await read(nextLocation())
        return ["Latitude", "Longitude"].compactMap { name in
            if case .double(let angle)? = values[name]?.value { angle } else { nil }
        }
    }

    /// Comes back when `Active` has been announced to have this value.
    func becomes(active: Bool) async throws {
        while true {
            let (_, values) = try await changes.next().read(as: String.self, [String: Variant].self)
            if values["Active"]?.value == .bool(active) { return }
        }
    }

    /// How many locations it was told of so far.
    var updateCount: Int { heard.filter { $0.member == "LocationUpdated" && $0.path == path }.count }
}
