import DBus
import DBusTestSupport
import EventLoop
import Positioning

@testable import LocationSources

/// Avahi, and a phone on the network that it knows of.
@ServiceActor
final class FaultyAvahi: FaultyNeighbour {
    let source: (any LocationSource)?

    private let world: FaultWorld
    private let phone: LoopbackServer
    private var peers: [LoopbackPeer] = []
    private let behaviour = FakeBehaviour()
    private var fake: FakeAvahi?

    init(in world: FaultWorld) async throws {
        try await world.startBus()
        self.world = world
        source = NetworkNMEASource(connection: world.connection, clock: world.clock)
        phone = try LoopbackServer.tcp()
        ServiceActor.start { [weak self, phone] in
            while let peer = try? await phone.nextPeer() { self?.peers.append(peer) }
        }
    }

    var served: Int { world.accepted["network-nmea"] ?? 0 }

    func become(_ manner: Manner) async throws {
        behaviour.become(manner, refusal: .failed("too many objects"))
        guard fake == nil else { return }
        let fake = try await FakeAvahi(world.bus.connect(), behaviour: behaviour)
        self.fake = fake
        guard case .tcp(_, let port) = phone.address else { return }
        try fake.add(.init(name: "phone", port: port))
    }

    func die() async throws {
        fake?.leave()
        fake = nil
    }

    func flood() async throws {
        try fake?.flood((0..<1000).map { "service \($0)" })
        try fake?.flood((0..<1000).map { _ in "phone" })
    }

    func act() async throws {
        let text = world.nextSentences()
        for peer in peers { peer.send(text) }
    }
}
