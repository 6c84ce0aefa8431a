import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI

/// An application, by the interface that GeoClue's clients use.
@ServiceActor
struct GeoClueClient {
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    let connection: Connection
    let path: ObjectPath
    let updates: Listener

    /// Connects, makes a client, and says who it is.
    init(on bus: PrivateBus, desktopID: String = "org.example.Maps", level: UInt32 = 8) async throws {
        try await self.init(connection: try bus.connect(), desktopID: desktopID, level: level)
    }

    init(connection: Connection, desktopID: String = "org.example.Maps", level: UInt32 = 8) async throws {
        self.connection = connection
        path = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "CreateClient",
            returning: ObjectPath.self)
        updates = Listener(connection, MatchRule(interface: GeoClueNames.client, member: "LocationUpdated"))
        try await set("DesktopId", .string(desktopID))
        try await set("RequestedAccuracyLevel", .uint32(level))
    }

    func set(_ property: String, _ value: Value) async throws(BusError) {
        try await connection.call(
            GeoClueNames.busName, path, Self.properties, "Set", GeoClueNames.client.string, property, Variant(value))
    }

    func start() async throws(BusError) {
        try await connection.call(GeoClueNames.busName, path, GeoClueNames.client, "Start")
    }

    func stop() async throws(BusError) {
        try await connection.call(GeoClueNames.busName, path, GeoClueNames.client, "Stop")
    }

    /// What the next `LocationUpdated` brings.
    func nextLocation() async throws -> [String: Variant] {
        let (_, location) = try await updates.next().read(as: ObjectPath.self, ObjectPath.self)
        return try await connection.call(
            GeoClueNames.busName, location, Self.properties, "GetAll", GeoClueNames.location.string,
            returning: [String: Variant].self)
    }
}

extension [String: Variant] {
    func number(_ name: String) -> Double? {
        if case .double(let value)? = self[name]?.value { value } else { nil }
    }
}
