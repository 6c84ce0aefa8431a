import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct NetworkMonitorTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let kernel = ScriptedRoutes()
        let bus: PrivateBus
        let monitor: NetworkMonitor
        let connection: Connection
        private(set) var states: [NetworkState] = []
        private var observation: Observation?

        init(_ routes: RouteState?) async throws {
            bus = try await PrivateBus()
            connection = try bus.connect(clock: clock)
            kernel.state = routes
            let kernel = kernel
            monitor = NetworkMonitor(kernel: kernel, connection: connection, clock: clock)
            monitor.discover()
            observation = monitor.observe { [unowned self] in states.append(monitor.state) }
            // The question whether there is a NetworkManager has its deadline.
            await until { self.clock.timersSet > 0 && self.clock.pendingTimers == 0 }
        }

        func change(to routes: RouteState?) async {
            kernel.change(to: routes)
            await clock.advance(by: .milliseconds(500))
        }

        /// A NetworkManager that has been heard.
        func manager() async throws -> FakeConnections {
            let manager = try await FakeConnections(bus.connect())
            await until { manager.manager.readings > 0 }
            try await connection.settle()
            await clock.settle()
            return manager
        }

        /// Lets the monitor read what NetworkManager has announced.
        func read(_ manager: FakeConnections) async throws {
            let readings = manager.manager.readings
            await until {
                // A reading that is still under way puts the next one off once more.
                if self.clock.hasTimer(in: .milliseconds(500)) { await self.clock.advance(by: .milliseconds(500)) }
                return manager.manager.readings > readings
            }
            // For the answer, and for those of the active connections.
            for _ in 0..<5 { try await connection.settle() }
            await clock.settle()
        }
    }

    private static let home = RouteState(ways: [
        .init(gateway: [192, 0, 2, 1], link: NetworkLink(index: 2, kind: .other))
    ])
    private static let nowhere = RouteState()

    private static func way(over kind: NetworkLink.Kind) -> RouteState {
        RouteState(ways: [.init(gateway: [], link: NetworkLink(index: 7, kind: kind))])
    }

    @Test("where nobody can be asked the machine counts as online")
    @ServiceActor
    func unknown() async throws {
        let bench = try await Bench(nil)

        #expect(bench.monitor.state.isOnline && !bench.monitor.state.isTunnelled)
        #expect(bench.states.isEmpty && bench.clock.pendingTimers == 0)
    }

    @Test("without NetworkManager the kernel's routes alone tell, and each other way is another attachment")
    @ServiceActor
    func routes() async throws {
        let bench = try await Bench(Self.home)
        #expect(bench.monitor.state.isOnline)

        await bench.change(to: Self.nowhere)
        await bench.change(to: Self.home)
        var other = Self.home
        other.ways[0] = .init(gateway: [192, 0, 2, 254], link: other.ways[0].link)
        await bench.change(to: other)

        #expect(bench.states.map(\.isOnline) == [false, true, true])
        #expect(Set(bench.states.map(\.attachment)).count == 3)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a carrier that was gone may be back on another network")
    @ServiceActor
    func carrier() async throws {
        let bench = try await Bench(Self.home)
        let before = bench.monitor.state

        let link = NetworkLink(index: 2, kind: .other, carrierChanges: 2)
        await bench.change(to: RouteState(ways: [.init(gateway: [192, 0, 2, 1], link: link)]))

        #expect(bench.monitor.state.isOnline && bench.monitor.state.attachment != before.attachment)
    }

    @Test("a tunnel that comes and goes is told each time")
    @ServiceActor
    func tunnel() async throws {
        let bench = try await Bench(Self.home)

        await bench.change(to: Self.way(over: .tunnel))
        await bench.change(to: Self.home)

        #expect(bench.states.map(\.isTunnelled) == [true, false])
        #expect(bench.states.allSatisfy { $0.isOnline })
        #expect(Set(bench.states.map(\.attachment)).count == 2)
    }

    @Test("a thousand changes at once are one look, and one that changes nothing is not told")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench(Self.home)

        for _ in 0..<1000 { bench.kernel.change(to: Self.home) }
        await bench.clock.advance(by: .seconds(5))

        #expect(bench.kernel.looks == 2)
        #expect(bench.states.isEmpty)
    }

    @Test("a sign-in page stands before the internet until somebody has signed in")
    @ServiceActor
    func portal() async throws {
        let bench = try await Bench(Self.home)
        let manager = try await bench.manager()
        #expect(bench.monitor.state.isOnline)

        try manager.set("Connectivity", .uint32(2))
        try await bench.read(manager)
        #expect(!bench.monitor.state.isOnline)
        try manager.set("Connectivity", .uint32(4))
        try await bench.read(manager)

        #expect(bench.monitor.state.isOnline)
    }

    @Test("each activation is another attachment, the same router or not")
    @ServiceActor
    func activation() async throws {
        let bench = try await Bench(Self.home)
        let manager = try await bench.manager()
        let before = bench.monitor.state.attachment

        try manager.set("Connectivity", .uint32(3))
        try await bench.read(manager)
        #expect(bench.monitor.state == NetworkState(isOnline: true, attachment: before))
        try manager.set("PrimaryConnection", .objectPath("/org/freedesktop/NetworkManager/ActiveConnection/2"))
        try await bench.read(manager)

        #expect(bench.monitor.state.attachment == before + 1)
    }

    @Test(
        "a machine is online if either says so: others than NetworkManager set up routes, and not all routes are seen")
    @ServiceActor
    func either() async throws {
        let bench = try await Bench(Self.nowhere)
        #expect(!bench.monitor.state.isOnline)

        let manager = try await bench.manager()
        #expect(bench.monitor.state.isOnline)
        try manager.set("State", .uint32(20))
        try await bench.read(manager)
        #expect(!bench.monitor.state.isOnline)
        await bench.change(to: Self.home)

        #expect(bench.monitor.state.isOnline)
    }

    @Test("a point-to-point link is a tunnel unless NetworkManager knows it for DSL or a modem")
    @ServiceActor
    func pointToPoint() async throws {
        let bench = try await Bench(Self.way(over: .pointToPoint))
        #expect(bench.monitor.state.isTunnelled)

        let manager = try await bench.manager()
        #expect(bench.monitor.state.isTunnelled)
        try manager.set("PrimaryConnectionType", .string("pppoe"))
        try await bench.read(manager)

        #expect(!bench.monitor.state.isTunnelled)
    }

    @Test("a VPN of NetworkManager's counts if it is the default, also where no route can be seen")
    @ServiceActor
    func managedTunnel() async throws {
        let bench = try await Bench(nil)
        let manager = try await bench.manager()
        let wifi: [String: Value] = ["Type": .string("802-11-wireless"), "Default": .bool(true), "Vpn": .bool(false)]

        try manager.activate([wifi, ["Type": .string("vpn"), "Vpn": .bool(true), "Default": .bool(false)]])
        try await bench.read(manager)
        #expect(!bench.monitor.state.isTunnelled)
        try manager.activate([wifi, ["Type": .string("wireguard"), "Default6": .bool(true)]])
        try await bench.read(manager)

        await until { bench.monitor.state.isTunnelled }
    }

    @Test("a NetworkManager that dies takes its word with it and leaves the attachment; one that comes later is heard")
    @ServiceActor
    func dies() async throws {
        let bench = try await Bench(Self.home)
        let manager = try await bench.manager()
        try manager.set("Connectivity", .uint32(2))
        try await bench.read(manager)
        let before = bench.monitor.state
        #expect(!before.isOnline)

        manager.leave()
        await until { bench.monitor.state.isOnline }
        #expect(bench.monitor.state.attachment == before.attachment)
        let next = try await FakeConnections(bench.bus.connect())
        await until { next.manager.readings > 0 }
        try next.set("Connectivity", .uint32(2))
        try await bench.read(next)

        #expect(!bench.monitor.state.isOnline)
    }

    @Test("a NetworkManager that never answers leaves it to the kernel, and is asked again after a minute")
    @ServiceActor
    func deaf() async throws {
        let bench = try await Bench(Self.nowhere)
        let deaf = try await DeafService("org.freedesktop.NetworkManager", on: bench.bus)
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        // The call waits a moment after its deadline has been set.
        try await bench.connection.settle()

        await bench.clock.advance(by: .seconds(5))
        await until { bench.clock.hasTimer(in: .seconds(60)) }
        #expect(!bench.monitor.state.isOnline)
        await bench.clock.advance(by: .seconds(60))
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await deaf.stop()
        let manager = try await bench.manager()

        #expect(bench.monitor.state.isOnline && manager.manager.readings == 1)
    }

    @Test(
        "a NetworkManager that refuses, or says what it should not, leaves it to the kernel", arguments: [true, false])
    @ServiceActor
    func refuses(denies: Bool) async throws {
        let bench = try await Bench(Self.nowhere)
        let connections = try await FakeConnections(bench.bus.connect())
        await until { bench.monitor.state.isOnline }

        connections.manager.isRefusing = denies
        connections.manager.values["State"] = Variant(.string("fine"))
        try connections.announce()
        await until { bench.clock.hasTimer(in: .milliseconds(500)) }
        await bench.clock.advance(by: .milliseconds(500))
        await until { bench.clock.hasTimer(in: .seconds(60)) }

        #expect(!bench.monitor.state.isOnline)
    }

    @Test("a NetworkManager that talks all the time is asked twice a second")
    @ServiceActor
    func managerFlood() async throws {
        let bench = try await Bench(Self.home)
        let manager = try await bench.manager()
        let before = manager.manager.readings

        for _ in 0..<500 { try manager.announce() }
        await until { bench.clock.hasTimer(in: .milliseconds(500)) }
        try await bench.connection.settle()
        #expect(manager.manager.readings == before)
        try await bench.read(manager)

        #expect(manager.manager.readings == before + 1)
        #expect(bench.states.isEmpty || bench.states.allSatisfy(\.isOnline))
    }
}
