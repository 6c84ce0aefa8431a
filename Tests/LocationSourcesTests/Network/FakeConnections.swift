import DBus
import DBusTestSupport
import EventLoop

/// Stands in for NetworkManager, as far as it says how the machine is connected.
@ServiceActor
final class FakeConnections {
    let manager = StandInProperties("org.freedesktop.NetworkManager")
    private let connection: Connection

    private static let path: ObjectPath = "/org/freedesktop/NetworkManager"

    /// Connected, by Wi-Fi, with the whole internet behind it.
    init(_ connection: Connection) async throws {
        self.connection = connection
        manager.values = [
            "State": Variant(.uint32(70)), "Connectivity": Variant(.uint32(4)),
            "PrimaryConnection": Variant(.objectPath("/org/freedesktop/NetworkManager/ActiveConnection/1")),
            "PrimaryConnectionType": Variant(.string("802-11-wireless")),
            "ActiveConnections": Variant(.array(of: ObjectPath.signature, [])),
        ]
        connection.objects.add(manager, at: Self.path)
        try await connection.takeName("org.freedesktop.NetworkManager")
    }

    func set(_ property: String, _ value: Value) throws {
        manager.values[property] = Variant(value)
        try announce(property)
    }

    func announce(_ property: String = "State") throws {
        guard let value = manager.values[property] else { return }
        try connection.emitPropertiesChanged(
            Self.path, "org.freedesktop.NetworkManager", to: nil,
            [.init(key: .string(property), value: .variant(value.value))])
    }

    /// Makes these the active connections, with these properties.
    func activate(_ connections: [[String: Value]]) throws {
        let paths = connections.indices.map { Self.path.appending("ActiveConnection").appending("\($0 + 1)") }
        for (path, properties) in zip(paths, connections) {
            let interface: InterfaceName = "org.freedesktop.NetworkManager.Connection.Active"
            connection.objects.add(StandInProperties(interface, properties.mapValues { Variant($0) }), at: path)
        }
        try set("ActiveConnections", .array(of: ObjectPath.signature, paths.map { .objectPath($0) }))
    }

    func leave() { connection.close() }
}
