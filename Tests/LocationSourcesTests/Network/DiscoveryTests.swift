import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct DiscoveryTests {
    init() { EventLoop.startThread() }

    @Test(
        "nobody looks at the network before a source is to look around, and then one look serves all", arguments: 0..<3)
    @ServiceActor
    func network(first: Int) async throws {
        let clock = ManualClock()
        let connection = try await PrivateBus().connect(clock: clock)
        let routes = ScriptedRoutes()
        let network = NetworkMonitor(kernel: routes, connection: connection, clock: clock)
        let chain = ProviderChain(
            providers: [LookupProvider(LookupBench.first)!], transport: ScriptedTransport(), network: network,
            userAgent: "Whereabouts/1 (test)", clock: clock)
        let sources: [any LocationSource] = [
            WiFiSource(scanners: [], lookup: chain, clock: clock),
            CellSource(
                directory: ModemDirectory(connection: connection, clock: clock), lookup: chain, clock: clock),
            IPSource(lookup: chain, network: network, clock: clock),
        ]
        let positioner = Positioner(sources: sources, clock: clock)

        #expect(routes.looks == 0 && clock.timersSet == 0 && !chain.isReachable)
        sources[first].discover()
        #expect(routes.looks == 1 && chain.isReachable)
        positioner.discover()

        #expect(routes.looks == 1)
        #expect(positioner.availableLevel == .city)
    }
}
