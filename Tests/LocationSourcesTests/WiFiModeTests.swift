import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import DBus
@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct WiFiModeTests {
    init() { EventLoop.startThread() }

    @Test(
        "ad-hoc and mesh networks are no access points, nor is what has a mode that nobody knows",
        arguments: [
            (.wpaSupplicant, [.string("ad-hoc"), .string("mesh"), .string(""), .uint32(2)]),
            // Unknown, ad-hoc, one's own access point, mesh (NM80211Mode).
            (.networkManager, [.uint32(0), .uint32(1), .uint32(3), .uint32(4), .string("infrastructure")]),
        ] as [(WirelessKind, [Value])])
    @ServiceActor
    func modes(kind: WirelessKind, modes: [Value]) async throws {
        let clock = ManualClock()
        let bus = try await PrivateBus()
        var points = modes.enumerated().map { FakeAccessPoint(address: 0x10 + UInt64($0), mode: $1) }
        points.append(FakeAccessPoint(address: 0x1))
        let adapter = FakeWireless.Adapter(name: "wlan0", points: points.map { ($0, clock.now) })
        let fake = try await FakeWireless(kind, on: bus.address, clock: clock, adapters: [adapter])
        let scanner = BusScanner(kind.service, connection: try bus.connect(clock: clock), clock: clock)
        var readings = 0
        scanner.onEvent = { if $0 == .heard { readings += 1 } }

        scanner.isListening = true
        scanner.discover()
        await until { readings > 0 }

        #expect(scanner.accessPoints.map(\.accessPoint.address) == [0x1])
        #expect(fake.pointReadings == points.count)
    }
}
