import DBusTestSupport
import EventLoop
import Geolocation
import Positioning

@testable import DBus
@testable import LocationSources

/// wpa_supplicant or NetworkManager, alone on the bus, with an adapter.
@ServiceActor
final class FaultyWireless: FaultyNeighbour {
    let source: (any LocationSource)?

    private let world: FaultWorld
    private let kind: WirelessKind
    private let lookup = ScriptedLookup()
    private var fake: FakeWireless?
    private var manner = Manner.dies

    init(_ kind: WirelessKind, in world: FaultWorld) async throws {
        try await world.startBus()
        self.world = world
        self.kind = kind
        source = WiFiSource(connection: world.connection, lookup: lookup, clock: world.clock)
        lookup.answer = { _ in
            .found(
                FoundPlace(
                    coordinate: Coordinate(latitude: 10, longitude: 20)!, accuracy: 40, measuredAt: world.clock.now,
                    isByAddress: false, provider: "example.org"))
        }
    }

    var served: Int { world.accepted["wifi"] ?? 0 }

    func become(_ manner: Manner) async throws {
        self.manner = manner
        // Whom the bus keeps from us, it keeps from us until it is another process.
        if manner == .works, case .refuses = fake?.behaviour { try await die() }
        if fake == nil {
            // It has heard something before anybody can ask.
            let heard = FakeWireless.Adapter(name: "wlan0", points: Self.points.map { ($0, world.clock.now) })
            fake = try await FakeWireless(kind, on: world.bus.address, clock: world.clock, adapters: [heard])
        }
        try scan()
        switch manner {
        case .hangs: fake?.behaviour = .hangs
        case .refuses: fake?.behaviour = .refuses(.accessDenied("not you"))
        default: fake?.behaviour = .answers
        }
    }

    func die() async throws {
        fake?.leave()
        fake = nil
    }

    func flood() async throws {
        for _ in 0..<1000 { try fake?.announceScan() }
    }

    func act() async throws { if manner == .works, fake != nil { try scan() } }

    private static let points = [FakeAccessPoint(address: 0x11), FakeAccessPoint(address: 0x12)]

    private func scan() throws { try fake?.scanned(Self.points) }
}
