import Authorization
import DBus
import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import LookupProtocol
import Positioning

@testable import LocationSources

/// A machine that the whole service runs on: its bus with the neighbours, its network, and lookup services that know home,
/// work (2 km off) and a place abroad by their access points, and the town by the address.
///
/// Suites that use it run one test at a time: each bus takes one of the system's few inotify instances, and such a test
/// takes many turns of the loop that all tests share.
@ServiceActor
final class Machine {
    static let home = (latitude: 10.5, longitude: 20.0)
    static let work = (latitude: 10.52, longitude: 20.0)
    static let abroad = (latitude: -33.5, longitude: 24.0)
    static let byAddress = (latitude: 10.7, longitude: 20.3)
    /// What can be received there.
    static let homePoints = (1...4).map { FakeAccessPoint(address: 0x0011_22AA_0000 + $0) }
    static let workPoints = (1...4).map { FakeAccessPoint(address: 0x0011_22BB_0000 + $0) }
    static let pointsAbroad = (1...4).map { FakeAccessPoint(address: 0x0011_22CC_0000 + $0) }

    static let provider = "https://first.example/v1/geolocate"
    static let secondProvider = "https://second.example/v1/geolocate"

    let clock = ManualClock()
    let bus: PrivateBus
    let network: any NetworkFollowing
    let transport = ScriptedTransport()
    /// Of the sources.
    let connection: Connection
    private(set) lazy var modems = ModemDirectory(connection: connection, clock: clock)
    private(set) var service: WholeService!

    private var chains: [ProviderChain] = []
    private var wireless: FakeWireless?

    /// - Parameter network: online all the time unless said otherwise.
    init(
        network: @ServiceActor (Connection, ManualClock) -> any NetworkFollowing = { _, _ in ScriptedNetwork() }
    ) async throws {
        bus = try await PrivateBus()
        connection = try bus.connect(clock: clock)
        self.network = network(connection, clock)
        transport.answer = { Self.knows($0) }
    }

    isolated deinit { connection.close() }

    /// What a good provider answers.
    static func knows(_ request: LookupRequest) -> LookupOutcome {
        if request.isByAddress { return .place(byAddress.latitude, byAddress.longitude, accuracy: 25_000) }
        let text = String(decoding: request.body, as: UTF8.self)
        if text.contains("00:11:22:aa:") { return .place(home.latitude, home.longitude, accuracy: 30) }
        if text.contains("00:11:22:bb:") { return .place(work.latitude, work.longitude, accuracy: 30) }
        if text.contains("00:11:22:cc:") { return .place(abroad.latitude, abroad.longitude, accuracy: 30) }
        return .notFound
    }

    // MARK: Sources, as the daemon makes them

    func chain(_ urls: String...) -> ProviderChain {
        let chain = ProviderChain(
            providers: urls.compactMap { LookupProvider($0) }, transport: transport, network: network,
            userAgent: "Whereabouts/1 (test)", clock: clock)
        chains.append(chain)
        return chain
    }

    func wifi(_ chain: ProviderChain) -> WiFiSource {
        let source = WiFiSource(connection: connection, lookup: chain, clock: clock)
        source.isPositionSharp = isSharp
        return source
    }

    func cell(_ chain: ProviderChain) -> CellSource {
        let source = CellSource(directory: modems, lookup: chain, clock: clock)
        source.isPositionSharp = isSharp
        return source
    }

    func ip(_ chain: ProviderChain) -> IPSource {
        let source = IPSource(lookup: chain, network: network, clock: clock)
        source.isPositionSharp = isSharp
        return source
    }

    private var isSharp: @ServiceActor () -> Bool {
        { [weak self] in self?.service?.positioner.isSharp ?? false }
    }

    // MARK: Neighbours and the service

    /// A wpa_supplicant whose adapter hears `points` in each scan.
    func wpaSupplicant(hearing points: [FakeAccessPoint]) async throws -> FakeWireless {
        let wireless = try await FakeWireless(.wpaSupplicant, on: bus.address, clock: clock)
        wireless.surroundings = points
        self.wireless = wireless
        return wireless
    }

    /// Starts the service, and waits until what can be had is `level`.
    func start(
        _ sources: [any LocationSource], reaching level: AccuracyLevel, store: any RecordStore = MemoryRecordStore()
    ) async throws {
        let chains = chains
        service = try await WholeService(sources, clock: clock, bus: bus, store: store) {
            chains.forEach { $0.forget() }
        }
        await until { self.service.positioner.availableLevel == level }
        await settle()
    }

    // MARK: Time

    /// Lets what is under way between the sources and their neighbours come to its end.
    func settle() async {
        // Each call sets a timer, so does the one here, and an answer takes two ways over the bus.
        var quiet = 0
        while quiet < 3 {
            let timers = clock.timersSet
            try? await connection.settle()
            await clock.settle()
            quiet = clock.timersSet == timers + 1 ? quiet + 1 : 0
        }
    }

    /// Lets time pass, from one timer to the next, so that whoever is asked then has the time to answer.
    func pass(_ seconds: Int) async {
        let end = clock.now + .seconds(seconds)
        await settle()
        while let next = clock.nextDeadline, next < end {
            await clock.advance(by: max(next - clock.now, .zero))
            await settle()
        }
        await clock.advance(by: end - clock.now)
        await settle()
    }

    /// Lets time pass until `condition` holds.
    ///
    /// - Returns: after how many seconds that was; `nil` if it was not within `limit`.
    func seconds(upTo limit: Int, until condition: @ServiceActor () async -> Bool) async -> Int? {
        for second in 0...limit {
            await settle()
            if await condition() { return second }
            await clock.advance(by: .seconds(1))
        }
        return nil
    }

    /// Lets time pass until `application` has got `count` locations in all.
    func seconds(upTo limit: Int, until application: Application, hasGot count: Int) async -> Int? {
        await seconds(upTo: limit) {
            await application.settle()
            return application.locations.count >= count
        }
    }
}

extension LookupRequest {
    /// Whether nothing but the address is asked about.
    var isByAddress: Bool { json?["wifiAccessPoints"] == nil && json?["cellTowers"] == nil }
}

extension Application.Location {
    func isAt(_ place: (latitude: Double, longitude: Double)) -> Bool {
        abs(latitude - place.latitude) < 1e-9 && abs(longitude - place.longitude) < 1e-9
    }
}
