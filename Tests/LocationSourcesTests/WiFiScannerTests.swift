import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct PacedJobTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let gate = Events<Void>()
        private(set) var begun = 0
        private(set) var ended = 0
        private(set) var job: PacedJob!

        init() {
            job = PacedJob(clock: clock) { [unowned self] in
                begun += 1
                try? await gate.next()
                ended += 1
            }
        }
    }

    @Test("what is asked for again and again is done once a second, and once more at the end")
    @ServiceActor
    func pace() async {
        let bench = Bench()
        for _ in 0..<10 { bench.gate.add(()) }

        for _ in 0..<30 {
            for _ in 0..<10 { bench.job.request() }
            await bench.clock.advance(by: .milliseconds(100))
        }

        #expect(bench.begun == 4)
        await bench.clock.advance(by: .seconds(60))
        #expect(bench.begun == 4 && bench.ended == 4 && bench.clock.pendingTimers == 0)
    }

    @Test("one is done at a time, however long it takes, and then once for all that was asked for meanwhile")
    @ServiceActor
    func oneAtATime() async {
        let bench = Bench()
        bench.job.request()
        for _ in 0..<10 {
            await bench.clock.advance(by: .seconds(1))
            bench.job.request()
        }

        #expect(bench.begun == 1)
        bench.gate.add(())
        await until { bench.begun == 2 }
        bench.gate.add(())
        await until { bench.ended == 2 }
        await bench.clock.advance(by: .seconds(60))
        #expect(bench.begun == 2)
    }

    @Test("what was asked for is taken back")
    @ServiceActor
    func cancel() async {
        let bench = Bench()
        bench.gate.add(())
        bench.job.request()
        await bench.clock.settle()
        bench.job.request()

        bench.job.cancel()
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.begun == 1)
    }
}

/// What holds for both services alike, whatever they do.
@Suite(.timeLimit(.minutes(1))) struct WiFiScannerTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
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

    private static let two = [FakeAccessPoint(address: 0x1), FakeAccessPoint(address: 0x2, signal: -70)]

    @Test("adapters are known without anything being asked of them", arguments: WirelessKind.allCases)
    @ServiceActor
    func discovery(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)

        bench.scanner.discover()
        await until { bench.scanner.hasAdapter }
        try bench.service.scanned(Self.two)
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
        await bench.called(kind == .wpaSupplicant ? "Get Ifname" : "Get DeviceType", times: 2)
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
        try bench.service.scanned(Self.two)
        await until { bench.heard == 2 }

        let found = bench.scanner.accessPoints.sorted { $0.accessPoint.address < $1.accessPoint.address }
        #expect(found.map(\.accessPoint.signal) == [-55, -70] && found[0].name == Array("home".utf8))
        #expect(found[0].accessPoint.frequency == 2412 && found[0].accessPoint.seenAt == bench.clock.now)
        #expect(bench.scanner.lastScan == bench.clock.now && bench.service.scanRequests == 0)
    }

    @Test("who no longer listens is told nothing and keeps nothing", arguments: WirelessKind.allCases)
    @ServiceActor
    func notListening(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        await bench.listen()

        bench.scanner.isListening = false
        let readings = bench.service.listReadings
        await bench.clock.advance(by: .seconds(10))
        try bench.service.scanned(Self.two)
        try bench.service.add(.init(name: "wlan1"))
        await bench.called(kind == .wpaSupplicant ? "Get Ifname" : "Get DeviceType", times: 3)
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
        try bench.service.scanned(Self.two)
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

    // MARK: Faults

    @Test("where there is none, nobody waits for it, and it is found as it comes", arguments: WirelessKind.allCases)
    @ServiceActor
    func late(kind: WirelessKind) async throws {
        let bench = try await Bench(kind, adapters: nil)
        bench.scanner.discover()
        await bench.clock.settle()
        await until { bench.isAtRest }
        await bench.clock.advance(by: .seconds(3600))

        #expect(!bench.scanner.hasAdapter && bench.isAtRest)
        try await bench.start()
        await until { bench.scanner.hasAdapter }
    }

    @Test("one that ends is lost at once, and one that starts again is used at once", arguments: WirelessKind.allCases)
    @ServiceActor
    func restart(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        await bench.listen()

        bench.service.leave()
        await until { !bench.scanner.hasAdapter }
        #expect(bench.scanner.accessPoints.isEmpty && bench.isAtRest)
        try await bench.start([.init(name: "wlan0", points: [(FakeAccessPoint(address: 0x9), bench.clock.now)])])
        await bench.clock.advance(by: .seconds(1))
        await until { bench.addresses == [0x9] }

        #expect(bench.events == [.adaptersChanged, .heard, .adaptersChanged, .adaptersChanged, .heard])
    }

    @Test("one that dies while it is being read is lost", arguments: WirelessKind.allCases)
    @ServiceActor
    func death(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        bench.service.behaviour = .hangsOn("GetAll")
        try bench.service.scanned(Self.two)
        await bench.called("GetAll", times: 3)
        bench.service.leave()
        await until { !bench.scanner.hasAdapter }

        #expect(bench.heard == 1)
        try await bench.start()
        await bench.clock.advance(by: .seconds(1))
        await until { bench.heard == 2 }
    }

    @Test("one that hangs has no adapters, and is asked again after waits that grow", arguments: WirelessKind.allCases)
    @ServiceActor
    func hangsFromTheStart(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        let question = kind == .wpaSupplicant ? "Get Interfaces" : "GetDevices"
        bench.service.behaviour = .hangs
        bench.scanner.discover()

        for (count, wait) in [5, 10, 20, 40, 80, 160, 300, 300].enumerated() {
            await bench.called(question, times: count + 1)
            await bench.clock.advance(by: BusScanner.patience)
            await until { bench.clock.hasTimer(in: .seconds(wait)) }
            #expect(bench.service.calls.count == count + 1)
            if count == 7 { bench.service.behaviour = .answers }
            await bench.clock.advance(by: .seconds(wait))
        }

        await until { bench.scanner.hasAdapter }
        #expect(bench.isAtRest)
    }

    @Test("one that hangs midway is lost, and found again after it has answered", arguments: WirelessKind.allCases)
    @ServiceActor
    func hangsMidway(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        bench.service.behaviour = .hangs
        let question = kind == .wpaSupplicant ? "Get BSSs" : "GetAllAccessPoints"
        try bench.service.announceScan()
        await bench.called(question, times: 2)
        await bench.clock.advance(by: BusScanner.patience)
        await until { !bench.scanner.hasAdapter }
        bench.service.behaviour = .answers
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { bench.heard == 2 }

        #expect(bench.addresses == [0x1, 0x2] && bench.isAtRest)
    }

    @Test(
        "one that names adapters and hangs on what they hear is asked less and less often",
        arguments: WirelessKind.allCases)
    @ServiceActor
    func hangsOnLists(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        bench.service.behaviour = .hangsOn("GetAll")
        bench.scanner.onEvent = { [weak bench] event in
            // As the source does.
            if let bench { bench.scanner.isListening = bench.scanner.hasAdapter }
        }
        bench.scanner.discover()

        for (count, wait) in [5, 10, 20, 40].enumerated() {
            await bench.called("GetAll", times: count + 1)
            await bench.clock.advance(by: BusScanner.patience)
            await until { bench.clock.hasTimer(in: .seconds(wait)) }
            #expect(!bench.scanner.hasAdapter)
            await bench.clock.advance(by: .seconds(wait))
        }
    }

    @Test("one that answers each call slowly is cut off all the same", arguments: WirelessKind.allCases)
    @ServiceActor
    func slow(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned((1...100).map { FakeAccessPoint(address: $0) })
        bench.scanner.discover()
        await until { bench.scanner.hasAdapter }
        bench.service.behaviour = .hangsOn("GetAll")
        bench.scanner.isListening = true

        for count in 1...3 {
            await bench.called("GetAll", times: count)
            await bench.clock.advance(by: .seconds(2))
            bench.service.behaviour = .answers
            bench.service.behaviour = .hangsOn("GetAll")
        }

        await until { !bench.scanner.hasAdapter }
        #expect(bench.service.pointReadings == 3 && bench.heard == 0)
    }

    @Test("one that the bus keeps from us is not asked again before it is another", arguments: WirelessKind.allCases)
    @ServiceActor
    func refused(kind: WirelessKind) async throws {
        let name = kind.service.busName.string
        let policy = BusConfiguration.permissivePolicy.replacing(
            "</policy>", with: "<deny send_destination=\"\(name)\"/></policy>")
        let bench = try await Bench(kind, policy: policy)
        bench.scanner.discover()
        // Until the refusal is there.
        let bystander = try bench.bus.connect()
        for _ in 0..<20 { try await bystander.settle() }
        await bench.clock.advance(by: .seconds(3600))

        #expect(!bench.scanner.hasAdapter && bench.service.calls.isEmpty && bench.isAtRest)
    }

    @Test("one that refuses by itself is asked again when it is another process", arguments: WirelessKind.allCases)
    @ServiceActor
    func refuses(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        bench.service.behaviour = .refuses(.accessDenied("no"))
        bench.scanner.discover()
        await until { bench.service.calls.count == 1 && bench.isAtRest }
        await bench.clock.advance(by: .seconds(3600))

        #expect(!bench.scanner.hasAdapter && bench.service.calls.count == 1 && bench.isAtRest)
        bench.service.leave()
        try await bench.start()
        await until { bench.scanner.hasAdapter }
    }

    @Test("a scan that is refused leaves those of others", arguments: WirelessKind.allCases)
    @ServiceActor
    func scanRefused(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        await bench.listen()
        let errors: [ErrorName] = [
            "fi.w1.wpa_supplicant1.Interface.ScanError", "org.freedesktop.NetworkManager.Device.NotAllowed",
            "org.freedesktop.NetworkManager.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied",
        ]
        for (count, error) in errors.enumerated() {
            bench.service.scanError = BusError(error, "not now")
            bench.scanner.requestScan()
            await until { bench.service.scanRequests == count + 1 && bench.isAtRest }
            await bench.clock.advance(by: .seconds(10))
        }

        #expect(bench.scanner.hasAdapter && bench.heard == 1)
        try bench.service.scanned(Self.two)
        await until { bench.heard == 2 }
    }

    @Test("a question for a scan that is not answered is not asked twice", arguments: WirelessKind.allCases)
    @ServiceActor
    func scanHangs(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        await bench.listen()
        bench.service.behaviour = .hangsOn(kind == .wpaSupplicant ? "Scan" : "RequestScan")

        bench.scanner.requestScan()
        await until { bench.service.scanRequests == 1 }
        bench.scanner.requestScan()
        await bench.clock.advance(by: BusScanner.patience)
        await until { bench.heard == 2 }
        #expect(bench.service.scanRequests == 1)
        bench.scanner.requestScan()
        await until { bench.service.scanRequests == 2 }

        #expect(bench.scanner.hasAdapter)
    }

    @Test("a flood of signals causes one reading a second", arguments: WirelessKind.allCases)
    @ServiceActor
    func signalFlood(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned(Self.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        for _ in 0..<5000 { try bench.service.announceScan() }
        try bench.service.add(.init(name: "last"))
        await until { bench.service.count(kind == .wpaSupplicant ? "Get Ifname" : "Get DeviceType") == 3 }
        #expect(bench.service.listReadings <= 3)
        await bench.clock.advance(by: .seconds(1))
        await until { bench.service.listReadings >= 3 }

        #expect(bench.service.listReadings <= 5)
    }

    @Test("of more access points than there can be only some are read", arguments: WirelessKind.allCases)
    @ServiceActor
    func longLists(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned((1...3000).map { FakeAccessPoint(address: $0) })

        await bench.listen()

        #expect(bench.scanner.accessPoints.count == WirelessTalk.mostAccessPoints)
    }

    @Test("a list without end is no list", arguments: WirelessKind.allCases)
    @ServiceActor
    func endlessList(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        try bench.service.scanned((1...60_000).map { FakeAccessPoint(address: $0) })

        await bench.listen()

        #expect(bench.scanner.accessPoints.isEmpty && bench.service.pointReadings == 0 && bench.scanner.hasAdapter)
    }

    private static let lies: [[String: Variant]] = [
        ["BSSID": Variant(.string("a")), "HwAddress": Variant(.uint32(1))],
        ["BSSID": Variant(.array(of: UInt8.signature, [.byte(1)])), "HwAddress": Variant(.string("00:11:22:33:44"))],
        ["BSSID": Variant(.array(of: UInt8.signature, [])), "HwAddress": Variant(.string("00:11:22:33:44:GG"))],
        ["SSID": Variant(.string("home")), "Ssid": Variant(.string("home"))],
        [
            "SSID": Variant(.array(of: UInt8.signature, Array(repeating: .byte(65), count: 33))),
            "Ssid": Variant(.array(of: UInt8.signature, Array(repeating: .byte(65), count: 33))),
        ],
        ["Signal": Variant(.int32(-50)), "Strength": Variant(.byte(101))],
        ["Age": Variant(.int32(-1)), "LastSeen": Variant(.int32(-1))],
    ]

    @Test("what makes no sense is left out", arguments: WirelessKind.allCases, lies)
    @ServiceActor
    func nonsense(kind: WirelessKind, lie: [String: Variant]) async throws {
        let bench = try await Bench(kind)
        bench.service.lie = lie
        try bench.service.scanned(Self.two)

        await bench.listen()

        #expect(bench.scanner.accessPoints.isEmpty)
    }

    @Test("a frequency that no channel has is unknown", arguments: WirelessKind.allCases)
    @ServiceActor
    func frequency(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        bench.service.lie = ["Frequency": Variant(kind == .wpaSupplicant ? .uint16(7) : .uint32(4_000_000_000))]
        try bench.service.scanned(Self.two)

        await bench.listen()

        #expect(bench.scanner.accessPoints.map(\.accessPoint.frequency) == [nil, nil])
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
        try bench.service.scanned(Self.two + [FakeAccessPoint(address: 0x0001_0200_0001, frequency: 2417)])

        await bench.listen()

        #expect(bench.addresses == [0x1, 0x2, 0x0001_0200_0001])
    }
}
