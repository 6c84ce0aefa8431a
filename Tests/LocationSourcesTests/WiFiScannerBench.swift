import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport

@testable import LocationSources

/// One of the services, and the scanner that asks it.
@ServiceActor
final class WiFiScannerBench {
    static nonisolated let two = [FakeAccessPoint(address: 0x1), FakeAccessPoint(address: 0x2, signal: -70)]

    let clock = ManualClock()
    let bus: PrivateBus
    let kind: WirelessKind
    let scanner: BusScanner
    private(set) var service: FakeWireless!
    private(set) var events: [WiFiScannerEvent] = []

    init(
        _ kind: WirelessKind, adapters: [FakeWireless.Adapter]? = [.init(name: "wlan0")],
        policy: String = BusConfiguration.permissivePolicy
    ) async throws {
        self.kind = kind
        bus = try await PrivateBus(BusConfiguration(policy: policy))
        scanner = BusScanner(kind.service, connection: try bus.connect(clock: clock), clock: clock)
        scanner.onEvent = { [weak self] in self?.events.append($0) }
        if let adapters { try await start(adapters) }
    }

    /// Starts the service, or another process of it.
    func start(_ adapters: [FakeWireless.Adapter] = [.init(name: "wlan0")]) async throws {
        service = try await FakeWireless(kind, on: bus.address, clock: clock, adapters: adapters)
    }

    /// Discovers, listens, and has read the first list.
    func listen() async {
        scanner.discover()
        await until { self.scanner.hasAdapter }
        scanner.isListening = true
        await until { self.events.last == .heard }
    }

    /// Whether no call waits for its answer, and nothing else for its time.
    var isAtRest: Bool { clock.pendingTimers == 0 }
    var heard: Int { events.count { $0 == .heard } }
    var addresses: Set<UInt64> { Set(scanner.accessPoints.map(\.accessPoint.address)) }

    /// Comes back once a call that was sent before is held or answered.
    func called(_ call: String, times: Int = 1) async { await until { self.service.count(call) >= times } }
}

extension WirelessKind {
    /// What is asked for each adapter.
    var adapterQuestion: String { self == .wpaSupplicant ? "Get Ifname" : "Get DeviceType" }
    /// What is asked for the adapters.
    var adaptersQuestion: String { self == .wpaSupplicant ? "Get Interfaces" : "GetDevices" }
    /// What is asked for that an adapter hears.
    var listQuestion: String { self == .wpaSupplicant ? "Get BSSs" : "GetAllAccessPoints" }
    var scanCall: String { self == .wpaSupplicant ? "Scan" : "RequestScan" }
}
