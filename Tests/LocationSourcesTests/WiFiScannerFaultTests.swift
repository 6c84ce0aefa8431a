import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

/// What both services may do wrong.
@Suite(.timeLimit(.minutes(1))) struct WiFiScannerFaultTests {
    init() { EventLoop.startThread() }

    private typealias Bench = WiFiScannerBench

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
        try bench.service.scanned(Bench.two)
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
        try bench.service.scanned(Bench.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        bench.service.behaviour = .hangsOn("GetAll")
        try bench.service.scanned(Bench.two)
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
        bench.service.behaviour = .hangs
        bench.scanner.discover()

        for (count, wait) in [5, 10, 20, 40, 80, 160, 300, 300].enumerated() {
            await bench.called(kind.adaptersQuestion, times: count + 1)
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
        try bench.service.scanned(Bench.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        bench.service.behaviour = .hangs
        try bench.service.announceScan()
        await bench.called(kind.listQuestion, times: 2)
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
        try bench.service.scanned(Bench.two)
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
        try bench.service.scanned(Bench.two)
        await until { bench.heard == 2 }
    }

    @Test("a question for a scan that is not answered is not asked twice", arguments: WirelessKind.allCases)
    @ServiceActor
    func scanHangs(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        await bench.listen()
        bench.service.behaviour = .hangsOn(kind.scanCall)

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
        try bench.service.scanned(Bench.two)
        await bench.listen()
        await bench.clock.advance(by: .seconds(5))

        for _ in 0..<5000 { try bench.service.announceScan() }
        try bench.service.add(.init(name: "last"))
        await until { bench.service.count(kind.adapterQuestion) == 3 }
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

    /// What a service says of each access point, in the words of both services.
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let properties: [String: Variant]

        init(_ description: String, _ supplicant: (String, Value), _ manager: (String, Value)) {
            testDescription = description
            properties = [supplicant.0: Variant(supplicant.1), manager.0: Variant(manager.1)]
        }
    }

    private static let longName = Value.array(of: UInt8.signature, Array(repeating: .byte(65), count: 33))
    private static let lies = [
        Lie("an address of another type", ("BSSID", .string("a")), ("HwAddress", .uint32(1))),
        Lie(
            "an address too short", ("BSSID", .array(of: UInt8.signature, [.byte(1)])),
            ("HwAddress", .string("00:11:22:33:44"))),
        Lie(
            "an address that is none", ("BSSID", .array(of: UInt8.signature, [])),
            ("HwAddress", .string("00:11:22:33:44:GG"))),
        Lie("a name of another type", ("SSID", .string("home")), ("Ssid", .string("home"))),
        Lie("a name too long", ("SSID", longName), ("Ssid", longName)),
        Lie("a signal that cannot be", ("Signal", .int32(-50)), ("Strength", .byte(101))),
        Lie("an age below zero", ("Age", .int32(-1)), ("LastSeen", .int32(-1))),
    ]

    @Test("what makes no sense is left out", arguments: WirelessKind.allCases, lies)
    @ServiceActor
    func nonsense(kind: WirelessKind, lie: Lie) async throws {
        let bench = try await Bench(kind)
        bench.service.lie = lie.properties
        try bench.service.scanned(Bench.two)

        await bench.listen()

        #expect(bench.scanner.accessPoints.isEmpty)
    }

    @Test("a frequency that no channel has is unknown", arguments: WirelessKind.allCases)
    @ServiceActor
    func frequency(kind: WirelessKind) async throws {
        let bench = try await Bench(kind)
        bench.service.lie = ["Frequency": Variant(kind == .wpaSupplicant ? .uint16(7) : .uint32(4_000_000_000))]
        try bench.service.scanned(Bench.two)

        await bench.listen()

        #expect(bench.scanner.accessPoints.map(\.accessPoint.frequency) == [nil, nil])
    }
}
