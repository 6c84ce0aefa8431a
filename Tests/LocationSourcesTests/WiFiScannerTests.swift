import DBus
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

/// What holds for both services alike, and what is each one's own.
@Suite(.timeLimit(.minutes(1))) struct WiFiScannerTests {
    init() { EventLoop.startThread() }

    private typealias Bench = WiFiScannerBench

    @Test("adapters are known without anything being asked of them", arguments: WirelessKind.allCases)
    @ServiceActor
    func discovery(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)

        bench.scanner.discover()
        await until { bench.scanner.hasAdapter }
        try bench.service.scanned(Bench.two)
        await bench.clock.advance(by: .seconds(3600))

        #expect(bench.events == [.adaptersChanged] && bench.isAtRest)
        #expect(bench.service.scanRequests == 0 && bench.service.listReadings == 0)
    }

    @Test("what is no radio is no adapter", arguments: WirelessKind.allCases)
    @ServiceActor
    func noRadio(kind: WirelessKind) async throws {
        let bench = try await Bench(
            kind, adapters: [.init(name: "eth0", driver: "wired", type: 1), .init(name: "p2p-dev-wlan0", type: 30)])

        bench.scanner.discover()
        await bench.called(kind.adapterQuestion, times: 2)
        await until { bench.isAtRest }
        #expect(!bench.scanner.hasAdapter)
        try bench.service.add(.init(name: "wlan0"))
        await bench.clock.advance(by: .seconds(1))
        await until { bench.scanner.hasAdapter }

        #expect(bench.events == [.adaptersChanged])
    }

    @Test("what was heard before is read at once, and what others scan as it comes", arguments: WirelessKind.allCases)
    @ServiceActor
    func reading(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned([FakeAccessPoint(address: 0x0A0B_0C0D_0E0F, age: 7)])
        await bench.listen()

        #expect(bench.addresses == [0x0A0B_0C0D_0E0F] && bench.scanner.lastScan == bench.clock.now - .seconds(7))
        await bench.clock.advance(by: .seconds(30))
        try bench.service.scanned(Bench.two)
        await until { bench.heard == 2 }

        let found = bench.scanner.accessPoints.sorted { $0.accessPoint.address < $1.accessPoint.address }
        try #require(found.count == 2)
        #expect(found.map(\.accessPoint.signal) == [-55, -70] && found[0].name == Array("home".utf8))
        #expect(found[0].accessPoint.frequency == 2412 && found[0].accessPoint.seenAt == bench.clock.now)
        #expect(bench.scanner.lastScan == bench.clock.now && bench.service.scanRequests == 0)
    }

    @Test("who no longer listens is told nothing and keeps nothing", arguments: WirelessKind.allCases)
    @ServiceActor
    func notListening(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Bench.two)
        await bench.listen()

        bench.scanner.isListening = false
        let readings = bench.service.listReadings
        await bench.clock.advance(by: .seconds(10))
        try bench.service.scanned(Bench.two)
        try bench.service.add(.init(name: "wlan1"))
        await bench.called(kind.adapterQuestion, times: 3)
        await until { bench.isAtRest }

        #expect(bench.scanner.accessPoints.isEmpty && bench.heard == 1 && bench.service.listReadings == readings)
    }

    @Test("who stops in the middle of a reading ends it", arguments: WirelessKind.allCases)
    @ServiceActor
    func stopsReading(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned((1...50).map { FakeAccessPoint(address: $0) })
        bench.scanner.discover()
        await until { bench.scanner.hasAdapter }
        bench.service.behaviour = .hangsOn("GetAll")
        bench.scanner.isListening = true
        await bench.called("GetAll")

        bench.scanner.isListening = false
        await until { bench.isAtRest }
        bench.service.behaviour = .answers
        await bench.clock.advance(by: .seconds(1))
        bench.scanner.isListening = true
        await until { bench.heard == 1 }

        #expect(bench.service.pointReadings == 51 && bench.scanner.accessPoints.count == 50)
    }

    @Test("all adapters are used, and those that come and go", arguments: WirelessKind.allCases)
    @ServiceActor
    func adapters(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Bench.two)
        await bench.listen()

        await bench.clock.advance(by: .seconds(1))
        try bench.service.add(.init(name: "wlan1", points: [(FakeAccessPoint(address: 0x3), bench.clock.now)]))
        await until { bench.addresses == [0x1, 0x2, 0x3] }
        bench.scanner.requestScan()
        await until { bench.service.scanRequests == 2 }
        await bench.clock.advance(by: .seconds(1))
        try bench.service.removeAdapter()
        await until { bench.addresses == [0x1, 0x2] }
        await bench.clock.advance(by: .seconds(1))
        try bench.service.removeAdapter()
        await until { !bench.scanner.hasAdapter }

        #expect(bench.events.first == .adaptersChanged && bench.events.last == .adaptersChanged)
    }

    // MARK: Each its own

    @Test("wpa_supplicant is asked for passive scans, and for nothing else that changes anything")
    @ServiceActor
    func passive() async throws {
        let bench = try await Bench(.wpaSupplicant)
        await bench.listen()

        bench.scanner.requestScan()
        await until { bench.service.scanRequests == 1 }

        #expect(
            bench.service.scanArguments == [
                .dictionary(
                    key: String.signature, value: Variant.signature,
                    [Value.Entry(key: .string("Type"), value: .variant(.string("passive")))])
            ])
        #expect(
            Set(bench.service.calls).isSubset(of: ["Get Interfaces", "Get Driver", "Get Ifname", "Get BSSs", "Scan"]))
    }

    @Test("a scan that wpa_supplicant could not make is none")
    @ServiceActor
    func failedScan() async throws {
        let bench = try await Bench(.wpaSupplicant)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        try bench.service.announceScan(isComplete: false)
        // Told of after it, so that it has been heard when this has an effect.
        try bench.service.add(.init(name: "eth0", driver: "wired"))
        await bench.called("Get Ifname", times: 3)
        await until { bench.isAtRest }

        #expect(bench.heard == 1 && bench.service.listReadings == 1)
    }

    @Test("NetworkManager's percentages become what they were made of, as nearly as can be")
    @ServiceActor
    func percentages() async throws {
        let bench = try await Bench(.networkManager)
        let signals = [-30, -40, -41, -67, -99, -100]
        try bench.service.scanned(signals.enumerated().map { FakeAccessPoint(address: UInt64($0 + 1), signal: $1) })

        await bench.listen()

        let found = bench.scanner.accessPoints.sorted { $0.accessPoint.address < $1.accessPoint.address }
        for (signal, point) in zip(signals, found) {
            #expect(abs(min(signal, -40) - point.accessPoint.signal!) <= 1)
        }
    }

    @Test("addresses that NetworkManager has made up for iwd are not used, nor is the adapter")
    @ServiceActor
    func madeUp() async throws {
        let bench = try await Bench(.networkManager)
        try bench.service.scanned([
            FakeAccessPoint(address: 0x0001_0200_0001, frequency: 2417),
            FakeAccessPoint(address: 0x0001_0200_0002, frequency: 2417),
        ])
        bench.scanner.discover()
        await until { bench.scanner.hasAdapter }
        bench.scanner.isListening = true
        await until { !bench.scanner.hasAdapter }
        await bench.clock.advance(by: .seconds(1))
        try bench.service.add(.init(name: "eth0", type: 1))
        await until { bench.service.count("Get DeviceType") == 3 && bench.isAtRest }

        #expect(bench.events == [.adaptersChanged, .adaptersChanged] && !bench.scanner.hasAdapter)
    }

    @Test("an access point that looks made up among others does no harm")
    @ServiceActor
    func lookalike() async throws {
        let bench = try await Bench(.networkManager)
        try bench.service.scanned(Bench.two + [FakeAccessPoint(address: 0x0001_0200_0001, frequency: 2417)])

        await bench.listen()

        #expect(bench.addresses == [0x1, 0x2, 0x0001_0200_0001])
    }
}
