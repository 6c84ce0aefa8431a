import DBusTestSupport
import EventLoop
import LocationSources
import NMEATestSupport
import Positioning

/// ModemManager, with a modem that has a receiver.
@ServiceActor
final class FaultyModemManager: FaultyNeighbour {
    let source: (any LocationSource)?

    private let world: FaultWorld
    private var fake: FakeModemManager?
    private var modem: FakeModem?

    init(in world: FaultWorld) async throws {
        try await world.startBus()
        self.world = world
        source = ModemGNSSSource(
            directory: ModemDirectory(connection: world.connection, clock: world.clock), clock: world.clock)
    }

    var served: Int { world.accepted["modem-gps"] ?? 0 }

    func become(_ manner: Manner) async throws {
        let fake = try self.fake ?? FakeModemManager(world.bus.connect())
        let isNew = self.fake == nil
        self.fake = fake
        fake.behaviour.become(manner, refusal: FakeModem.unauthorized)
        guard isNew else { return }
        modem = fake.plug()
        try await act()
        try await fake.start()
    }

    func die() async throws {
        fake?.die()
        (fake, modem) = (nil, nil)
    }

    func flood() async throws {
        for _ in 0..<500 {
            modem?.giveSign()
            modem?.become(state: 8)
        }
    }

    func act() async throws {
        let time = world.nextTime()
        modem?.tell(nmea: gga(time), rmc(time))
    }
}
