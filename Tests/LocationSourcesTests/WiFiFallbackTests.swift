import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationSources

/// Both services together on one bus.
@Suite(.timeLimit(.minutes(1))) struct WiFiFallbackTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let bus: PrivateBus
        let lookup = ScriptedLookup()
        let source: WiFiSource
        let reports: Reports
        let manager: FakeWireless

        /// NetworkManager has an adapter that hears two access points, and the source runs.
        init(policy: String = BusConfiguration.permissivePolicy) async throws {
            bus = try await PrivateBus(BusConfiguration(policy: policy))
            manager = try await FakeWireless(.networkManager, on: bus.address, clock: clock)
            try manager.scanned([FakeAccessPoint(address: 0x11), FakeAccessPoint(address: 0x12)])
            source = WiFiSource(connection: try bus.connect(clock: clock), lookup: lookup, clock: clock)
            reports = Reports(of: source)
            lookup.answer = { [clock] _ in
                .found(
                    FoundPlace(
                        coordinate: Coordinate(latitude: 10, longitude: 20)!, accuracy: 40, measuredAt: clock.now,
                        isByAddress: false, provider: "example.org"))
            }
        }

        func supplicant() async throws -> FakeWireless {
            // It has heard something before anybody can ask.
            let points = [FakeAccessPoint(address: 0x21), FakeAccessPoint(address: 0x22)].map { ($0, clock.now) }
            let heard = FakeWireless.Adapter(name: "wlan0", points: points)
            return try await FakeWireless(.wpaSupplicant, on: bus.address, clock: clock, adapters: [heard])
        }

        func asked(_ addresses: [UInt64]) async {
            await until { self.lookup.queries.last?.accessPoints.map(\.address) == addresses }
        }
    }

    @Test("wpa_supplicant is used where it is, and NetworkManager then only says that it is there")
    @ServiceActor
    func preference() async throws {
        let bench = try await Bench()
        let supplicant = try await bench.supplicant()
        bench.source.discover()
        await until { supplicant.count("Get Ifname") == 1 && bench.manager.count("Get DeviceType") == 1 }
        await until { bench.clock.pendingTimers == 0 }

        bench.source.run(for: .exact)
        await bench.asked([0x21, 0x22])
        await bench.clock.advance(by: .seconds(10))
        await until { supplicant.scanRequests == 1 }

        #expect(bench.manager.listReadings == 0 && bench.manager.scanRequests == 0)
    }

    @Test("where the bus keeps wpa_supplicant from us, NetworkManager is used")
    @ServiceActor
    func refused() async throws {
        let denial = "<deny send_destination=\"fi.w1.wpa_supplicant1\"/></policy>"
        let bench = try await Bench(
            policy: BusConfiguration.permissivePolicy.replacing("</policy>", with: denial))
        let supplicant = try await bench.supplicant()
        bench.source.discover()
        bench.source.run(for: .exact)
        await bench.asked([0x11, 0x12])

        #expect(supplicant.calls.isEmpty)
    }

    @Test("each change from one to the other keeps the position, and the way back is taken at once")
    @ServiceActor
    func changes() async throws {
        let bench = try await Bench()
        bench.source.discover()
        bench.source.run(for: .exact)
        await bench.asked([0x11, 0x12])

        let supplicant = try await bench.supplicant()
        await bench.asked([0x21, 0x22])
        await bench.clock.advance(by: .seconds(2))
        supplicant.leave()
        await bench.asked([0x11, 0x12])

        #expect(bench.source.availableLevel == .street)
        #expect(!bench.reports.all.contains(.lost(source: "wifi")))
    }

    @Test("when wpa_supplicant hangs NetworkManager takes its place until it answers again")
    @ServiceActor
    func hangs() async throws {
        let bench = try await Bench()
        let supplicant = try await bench.supplicant()
        bench.source.discover()
        await until { supplicant.count("Get Ifname") == 1 && bench.clock.pendingTimers == 0 }
        bench.source.run(for: .exact)
        await bench.asked([0x21, 0x22])

        await bench.clock.advance(by: .seconds(2))
        supplicant.behaviour = .hangs
        try supplicant.announceScan()
        await until { supplicant.listReadings == 2 }
        await bench.clock.advance(by: BusScanner.patience)
        await bench.asked([0x11, 0x12])
        supplicant.behaviour = .answers
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        try supplicant.scanned([FakeAccessPoint(address: 0x21), FakeAccessPoint(address: 0x22)])
        await bench.clock.advance(by: .seconds(5))
        await bench.asked([0x21, 0x22])

        #expect(!bench.reports.all.contains(.lost(source: "wifi")))
    }
}
