import Authorization
import DBus
import DBusTestSupport
import EventLoop
import Foundation
import LocationTestSupport
import LookupProtocol
import NMEATestSupport
import Testing

@testable import LocationSources

@Suite("Cases: life of the machine", .serialized, .timeLimit(.minutes(1))) struct LifeCases {
    init() { EventLoop.startThread() }

    private static let atHome = RouteState(ways: [
        .init(gateway: [192, 0, 2, 1], link: NetworkLink(index: 2, kind: .other))
    ])
    private static let atWork = RouteState(ways: [
        .init(gateway: [192, 0, 2, 254], link: NetworkLink(index: 2, kind: .other))
    ])
    private static let tunnel = RouteState(ways: [.init(gateway: [], link: NetworkLink(index: 7, kind: .tunnel))])

    // MARK: C06

    @Test("after a restart nothing is told before the network is there, and then a fresh place")
    @ServiceActor
    func restart() async throws {
        let folder = TestFolder.unused("state")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func store(_ machine: Machine) -> SQLiteRecordStore {
            SQLiteRecordStore(in: StateDirectory(folder.path), clock: machine.clock)
        }
        do {
            let machine = try await Machine()
            let store = store(machine)
            _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
            try await machine.start(
                [machine.wifi(machine.chain(Machine.provider))], reaching: .street, store: store)
            let application = try await machine.service.startedApplication()
            _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
            await store.finish()
        }
        let network = ScriptedNetwork()
        network.state.isOnline = false
        let machine = try await Machine { _, _ in network }
        await machine.clock.advance(by: .seconds(3 * 3600))
        _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let chain = machine.chain(Machine.provider)
        try await machine.start([machine.wifi(chain), machine.ip(chain)], reaching: .none, store: store(machine))

        let application = try await machine.service.startedApplication()
        await machine.pass(60)
        await application.settle()
        #expect(application.locations.isEmpty && machine.transport.requests.isEmpty)
        let moment = machine.clock.wallTime / 1_000_000
        network.state.isOnline = true

        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        #expect(application.locations.allSatisfy { $0.timestamp + 60 >= UInt64(moment) })
    }

    @Test("a place from a moment ago is told with its own time, and a fresh one takes its place even if it is coarser")
    @ServiceActor
    func oldPlace() async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        try await machine.start([machine.wifi(machine.chain(Machine.provider))], reaching: .street)
        let first = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: first, hasGot: 1))
        try await first.stop()
        await machine.pass(30)
        wireless.surroundings = Machine.workPoints
        machine.transport.answer = { _ in .place(10.52, 20, accuracy: 400) }

        let second = try await machine.service.startedApplication()
        await second.settle()
        #expect(second.locations == first.locations)
        _ = try #require(await machine.seconds(upTo: 30, until: second, hasGot: 2))

        try #require(second.locations.count == 2)
        #expect(second.locations[1].isAt(Machine.work) && second.locations[1].accuracy == 400)
        #expect(second.locations[1].timestamp >= second.locations[0].timestamp + 30)
    }

    // MARK: C09

    /// A machine whose address is somewhere else as long as the default route is a tunnel.
    @ServiceActor
    private static func tunnelled() async throws -> (machine: Machine, routes: ScriptedRoutes) {
        let routes = ScriptedRoutes()
        routes.state = atHome
        let machine = try await Machine { NetworkMonitor(kernel: routes, connection: $0, clock: $1) }
        machine.transport.answer = { request in
            request.isByAddress && routes.state == tunnel ? .place(-40, 80, accuracy: 25_000) : Machine.knows(request)
        }
        return (machine, routes)
    }

    @Test("a tunnel that comes and goes moves nobody who is found by Wi-Fi")
    @ServiceActor
    func tunnelWithWiFi() async throws {
        let (machine, routes) = try await Self.tunnelled()
        _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let chain = machine.chain(Machine.provider)
        try await machine.start([machine.wifi(chain), machine.ip(chain)], reaching: .street)
        let application = try await machine.service.startedApplication()
        func isHome() async -> Bool {
            await application.settle()
            return application.locations.last?.isAt(Machine.home) == true
        }
        _ = try #require(await machine.seconds(upTo: 10, until: isHome))
        let told = application.locations.count

        routes.change(to: Self.tunnel)
        await machine.pass(300)
        routes.change(to: Self.atHome)
        await machine.pass(60)
        await application.settle()

        #expect(application.locations.count > told)
        #expect(application.locations[told...].allSatisfy { $0.isAt(Machine.home) && $0.accuracy <= 30 })
    }

    @Test("while a tunnel carries the traffic the address is no place, and right after it is again")
    @ServiceActor
    func tunnelByAddress() async throws {
        let (machine, routes) = try await Self.tunnelled()
        try await machine.start([machine.ip(machine.chain(Machine.provider))], reaching: .city)
        let application = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))

        routes.change(to: Self.tunnel)
        await machine.pass(300)
        await application.settle()
        #expect(application.locations.count == 1 && machine.transport.requests.count == 1)
        #expect(try await application.availableLevel() == 0)
        routes.change(to: Self.atHome)

        _ = try #require(await machine.seconds(upTo: 60, until: application, hasGot: 2))
        #expect(application.locations.allSatisfy { $0.isAt(Machine.byAddress) })
        try #require(application.locations.count == 2)
        #expect(application.locations[1].timestamp >= application.locations[0].timestamp + 300)
    }

    // MARK: C14

    @Test("before a sleep all stops; after it all starts, and the first place told is the new one")
    @ServiceActor
    func sleep() async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let login1 = try await FakeLogin1(machine.bus.connect())
        let server = try LoopbackServer()
        let receiver = NMEASocketSource(address: server.address, clock: machine.clock)
        try await machine.start([receiver, machine.wifi(machine.chain(Machine.provider))], reaching: .exact)
        await until { login1.isHeld }
        let application = try await machine.service.startedApplication()
        let peer = try await server.nextPeer()
        peer.send(gga("120000") + rmc("120000"))
        #expect(
            await machine.seconds(upTo: 10) {
                await application.settle()
                return application.locations.contains { $0.description == "GNSS" }
            } != nil)
        await machine.pass(5)

        try login1.prepareForSleep(true)
        #expect(await peer.nextLine() == nil)
        await until { !login1.isHeld }
        #expect(machine.service.positioner.isSuspended)
        await application.settle()
        let told = application.locations.count
        // The receiver stays behind.
        server.stop()
        wireless.surroundings = Machine.pointsAbroad
        let scans = wireless.scanRequests
        await machine.clock.sleep(for: .seconds(8 * 3600))
        try login1.prepareForSleep(false)
        let wake = UInt64(machine.clock.wallTime / 1_000_000)

        #expect(await machine.seconds(upTo: 5) { wireless.scanRequests > scans } != nil)
        _ = try #require(await machine.seconds(upTo: 25, until: application, hasGot: told + 1))
        let found = application.locations[told...]
        #expect(found.allSatisfy { $0.isAt(Machine.abroad) && $0.timestamp >= wake })
        // It waits for the receiver, which somebody brings.
        try server.listen()
        #expect(await machine.seconds(upTo: 5) { server.accepted == 2 } != nil)
    }

    // MARK: C18

    enum Informant: CaseIterable { case networkManager, kernel }

    @Test(
        "without a network nobody is asked; with one, and in each other one, the place is found within ten seconds",
        arguments: Informant.allCases)
    @ServiceActor
    func networks(informant: Informant) async throws {
        let routes = ScriptedRoutes()
        routes.state = RouteState()
        let machine = try await Machine { NetworkMonitor(kernel: routes, connection: $0, clock: $1) }
        var manager: FakeConnections?
        /// Connects the machine with the network behind a router of this number; 0 for none.
        func connect(_ number: UInt8) throws {
            switch informant {
            case .kernel: routes.change(to: number == 1 ? Self.atHome : number == 2 ? Self.atWork : RouteState())
            case .networkManager:
                let path: ObjectPath = number == 0 ? "/" : ObjectPath(trusted: "/active").appending("\(number)")
                try manager?.set("PrimaryConnection", .objectPath(path))
                try manager?.set("State", .uint32(number == 0 ? 20 : 70))
            }
        }
        if informant == .networkManager {
            manager = try await FakeConnections(machine.bus.connect())
            try connect(0)
            machine.network.discover()
            await until { manager!.manager.readings > 0 }
            await machine.pass(2)
        }
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        try await machine.start([machine.wifi(machine.chain(Machine.provider))], reaching: .none)

        let application = try await machine.service.startedApplication()
        await machine.pass(60)
        #expect(application.locations.isEmpty && machine.transport.requests.isEmpty)
        try connect(1)
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        #expect(application.locations.first?.isAt(Machine.home) == true)
        // Long enough for scans to have become rare.
        await machine.pass(900)
        let (asked, scans) = (machine.transport.requests.count, wireless.scanRequests)
        await machine.pass(100)
        #expect(wireless.scanRequests <= scans + 1)
        wireless.surroundings = Machine.workPoints
        try connect(2)

        #expect(
            await machine.seconds(upTo: 10) {
                await application.settle()
                return application.locations.last?.isAt(Machine.work) == true
            } != nil)
        #expect(machine.transport.requests.count > asked)
    }
}

/// Stands in for logind, as far as it tells of sleep. The user of the tests is logged in.
@ServiceActor
final class FakeLogin1: BusObject {
    typealias Session = Structure<String, UInt32, String, String, ObjectPath>

    private static let interface = Interface<FakeLogin1>("org.freedesktop.login1.Manager") {
        Method("ListSessions", returns: "sessions", access: .anyone, body: FakeLogin1.listSessions)
        Method("Inhibit", "what", "who", "why", "mode", returns: "pipe_fd", access: .anyone, body: FakeLogin1.inhibit)
    }

    /// Whether the next sleep has to wait.
    var isHeld: Bool { lock != nil }

    private let connection: Connection
    private var lock: (descriptor: FileDescriptor, watch: Watch)?

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    init(_ connection: Connection) async throws {
        self.connection = connection
        connection.objects.add(self, at: "/org/freedesktop/login1")
        try await connection.takeName("org.freedesktop.login1")
    }

    func prepareForSleep(_ isBeginning: Bool) throws {
        try connection.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", to: nil, isBeginning)
    }

    private func listSessions(_ call: MethodCall) -> [Session] { [Session("1", getuid(), "somebody", "seat0", "/s")] }

    private func inhibit(_ call: MethodCall, what: String, who: String, why: String, mode: String) throws -> UnixFD {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BusError.failed("no pipe") }
        // A program that a test beside this one starts would hold the lock too.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let descriptor = FileDescriptor(adopting: ends[0])
        let watch = Watch(descriptor, for: .readable) { [weak self] _ in
            self?.lock?.watch.cancel()
            self?.lock = nil
        }
        lock = (descriptor, watch)
        return UnixFD(FileDescriptor(adopting: ends[1]))
    }
}
