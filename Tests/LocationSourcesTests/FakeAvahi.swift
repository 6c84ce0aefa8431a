import DBus
import DBusTestSupport
import EventLoop

/// Stands in for Avahi: tells of the services that a test puts on the network.
@ServiceActor
final class FakeAvahi: BusObject {
    struct Service {
        var name: String
        var address = "127.0.0.1"
        /// What it has with IPv6, where it is heard over that, too.
        var address6: String?
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
    /// Which protocol each resolver was asked to have addresses of.
    private(set) var wanted: [Int32] = []
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
        if client != nil { try announce(service) }
    }

    private func announce(_ service: Service) throws {
        try announce("ItemNew", service.name)
        if service.address6 != nil { try announce("ItemNew", service.name, over: 1) }
    }

    func remove(_ name: String) throws {
        services.removeAll { $0.name == name }
        try announce("ItemRemove", name)
    }

    /// Tells anew of a service that is known by its name.
    func replace(_ service: Service) throws {
        services.removeAll { $0.name == service.name }
        try add(service)
    }

    func leave() { connection.close() }

    /// Says of each name that it has appeared, in one go.
    func flood(_ names: some Sequence<String>) throws { for name in names { try announce("ItemNew", name) } }

    /// - Parameter transport: `AVAHI_PROTO_INET` or `AVAHI_PROTO_INET6`.
    private func announce(_ member: MemberName, _ name: String, over transport: Int32 = 0) throws {
        try connection.emit(
            "/Client1/ServiceBrowser1", "org.freedesktop.Avahi.ServiceBrowser", member, to: client, Int32(1), transport,
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
            for service in services { try? announce(service) }
        }
        return "/Client1/ServiceBrowser1"
    }

    private func resolve(
        _ call: MethodCall, interface: Int32, transport: Int32, name: String, type: String, domain: String,
        addressTransport: Int32, flags: UInt32
    ) async throws -> ObjectPath {
        resolutions += 1
        wanted.append(addressTransport)
        try await behaviour.take()
        resolvers += 1
        let path = ObjectPath("/Client1/ServiceResolver\(resolvers)") ?? .root
        guard let service = services.first(where: { $0.name == name }) else { return path }
        // Of any protocol, Avahi gives what it has first.
        let isSixth = addressTransport == 1 || addressTransport == -1 && transport == 1
        let address = isSixth ? service.address6 ?? service.address : service.address
        EventLoop.shared.defer { [connection, client] in
            try? connection.emit(
                path, "org.freedesktop.Avahi.ServiceResolver", "Found", to: client, interface, transport, name, type,
                domain, "host.local", Int32(isSixth ? 1 : 0), address, service.port,
                service.txt.map { Array($0.utf8) }, UInt32(0))
        }
        return path
    }
}
