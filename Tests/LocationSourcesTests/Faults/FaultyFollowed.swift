import DBus
import DBusTestSupport
import EventLoop
import Positioning

@testable import LocationDaemon
@testable import LocationSources

/// logind, as far as it tells of sleep.
@ServiceActor
final class FaultyLogind: FaultyNeighbour {
    let source: (any LocationSource)? = nil

    private let world: FaultWorld
    private let follower: SleepFollower
    private var fake: Login1?
    private(set) var served = 0

    init(in world: FaultWorld) async throws {
        try await world.startBus()
        self.world = world
        follower = SleepFollower(world.connection, clock: world.clock)
    }

    func attach(to positioner: Positioner) {
        follower.onSleep = { [unowned positioner] in positioner.suspend() }
        follower.onWake = { [unowned positioner] in positioner.resume() }
        follower.start()
    }

    func become(_ manner: Manner) async throws {
        let manner: Login1.Manner =
            switch manner {
            case .hangs: .deaf
            case .refuses: .refusing
            default: .granting
            }
        fake?.manner = manner
        if fake == nil { fake = try await Login1(world.bus.connect(), [:], manner: manner) }
    }

    func die() async throws {
        fake?.leave()
        fake = nil
    }

    func flood() async throws {
        for _ in 0..<500 {
            try fake?.prepareForSleep(true)
            try fake?.prepareForSleep(false)
        }
    }

    /// Of use is that it waits for us.
    func act() async throws { if fake?.heldLocks == 1 { served += 1 } }
}

/// iio-sensor-proxy.
@ServiceActor
final class FaultySensorProxy: FaultyNeighbour {
    let source: (any LocationSource)? = nil

    private let world: FaultWorld
    private let compass: Compass
    private let behaviour = FakeBehaviour()
    private var fake: FakeSensorProxy?
    private(set) var served = 0
    private var heading = 0.0

    init(in world: FaultWorld) async throws {
        try await world.startBus()
        self.world = world
        compass = Compass(connection: world.connection, clock: world.clock)
    }

    func attach(to positioner: Positioner) { positioner.compass = compass }

    func become(_ manner: Manner) async throws {
        behaviour.become(manner)
        if fake == nil { fake = try await FakeSensorProxy(world.bus.connect(), behaviour: behaviour) }
        try turn()
    }

    func die() async throws {
        fake?.leave()
        fake = nil
    }

    func flood() async throws {
        for _ in 0..<1000 { try turn() }
    }

    /// Of use is that its heading is known.
    func act() async throws {
        if let heading = compass.heading, heading == fake?.heading { served += 1 }
    }

    private func turn() throws {
        heading = (heading + 10).truncatingRemainder(dividingBy: 360)
        try fake?.turn(heading)
    }
}
