import DBus
import DBusTestSupport
import EventLoop

/// Stands in for Avahi: tells of the services that a test puts on the network.
@ServiceActor
final class FakeAvahi: BusObject {
    struct Service {
        var name: String
        var address = "127.0.0.1"
        var port: UInt16
        var txt: [String] = []
    }

    private static let server = Interface<FakeAvahi>("org.freedesktop.Avahi.Server") {
        Method(
            "ServiceBrowserNew", "interface", "protocol", "type", "domain", "flags", returns: "path", access: .anyone,
            body: FakeAvahi.browse)
        Method(
            "ServiceResolverNew", "interface", "protocol", "name", "type", "domain", "aprotocol", "flags",
            returns: "path", access: .anyone, body: FakeAvahi.resolve)
    }

    private(set) var services: [Service] = []
    /// The types that were asked for.
    private(set) var browsed: [String] = []
    /// How often a resolver was asked for.
    private(set) var resolutions = 0
    /// How many browsers and resolvers have been let go.
    private(set) var freed = 0

    /// What becomes of questions.
    let behaviour: FakeBehaviour

    private let connection: Connection
    private var client: BusName?
    private var resolvers = 0

    var interfaces: [any ServedInterface] { [Bound(Self.server, to: self)] }

    init(_ connection: Connection, behaviour: FakeBehaviour = FakeBehaviour()) async throws {
        self.connection = connection
        self.behaviour = behaviour
        connection.objects.add(self, at: .root)
        try await connection.takeName("org.freedesktop.Avahi")
    }

    func add(_ service: Service) throws {
        services.append(service)
        if client != nil { try announce("ItemNew", service.name) }
    }

    func remove(_ name: String) throws {
        services.removeAll { $0.name == name }
        try announce("ItemRemove", name)
    }

    func leave() { connection.close() }

    /// Says of each name that it has appeared, in one go.
    func flood(_ names: some Sequence<String>) throws { for name in names { try announce("ItemNew", name) } }

    private func announce(_ member: MemberName, _ name: String) throws {
        try connection.emit(
            "/Client1/ServiceBrowser1", "org.freedesktop.Avahi.ServiceBrowser", member, to: client, Int32(1), Int32(0),
            name, "_nmea-0183._tcp", "local", UInt32(4))
    }

    private func browse(
        _ call: MethodCall, interface: Int32, transport: Int32, type: String, domain: String, flags: UInt32
    ) async throws -> ObjectPath {
        try await behaviour.take()
        client = call.sender
        browsed.append(type)
        // As close behind the reply as can be.
        EventLoop.shared.defer { [self] in
            for service in services { try? announce("ItemNew", service.name) }
        }
        return "/Client1/ServiceBrowser1"
    }

    private func resolve(
        _ call: MethodCall, interface: Int32, transport: Int32, name: String, type: String, domain: String,
        addressTransport: Int32, flags: UInt32
    ) async throws -> ObjectPath {
        resolutions += 1
        try await behaviour.take()
        resolvers += 1
        let path = ObjectPath("/Client1/ServiceResolver\(resolvers)") ?? .root
        guard let service = services.first(where: { $0.name == name }) else { return path }
        EventLoop.shared.defer { [connection, client] in
            try? connection.emit(
                path, "org.freedesktop.Avahi.ServiceResolver", "Found", to: client, interface, transport, name, type,
                domain, "host.local", Int32(0), service.address, service.port, service.txt.map { Array($0.utf8) },
                UInt32(0))
        }
        return path
    }
}
