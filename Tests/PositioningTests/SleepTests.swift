import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: sleep")
struct SleepTests {
    init() { EventLoop.startThread() }

    /// The other end of the country.
    private static let away = 600_000.0

    @Test("everything stops at once, without grace, and what is needed starts at the wake")
    @ServiceActor
    func stops() async {
        let rig = Rig([.gnss, .ip], grace: .seconds(15))
        rig.want(.exact)
        rig.want(.city)
        #expect(rig.receiver.isRunning && rig.address.isRunning)

        rig.positioner.suspend()
        #expect(!rig.receiver.isRunning && !rig.address.isRunning)
        #expect(rig.clock.pendingTimers == 0)
        rig.positioner.resume()

        #expect(!rig.receiver.isRunning && rig.address.isRunning)
    }

    @Test("what still arrives is not taken, and what was measured before counts no more when it comes late")
    @ServiceActor
    func late() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.positioner.suspend()

        rig.home(rig.wifi, north: 10)
        await rig.clock.advance(by: .seconds(20))
        rig.positioner.resume()
        rig.wifi.send(Place.home.latitude, Place.home.longitude, age: .milliseconds(1))
        #expect(rig.updates.count == 1)
        rig.home(rig.wifi, north: 20, accuracy: 30)

        #expect(rig.updates.count == 2)
    }

    @Test(
        "the first fix after the wake is taken, however far away, and however little the sleep was",
        arguments: [1, 28_800])
    @ServiceActor
    func elsewhere(seconds: Int) async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.home(rig.receiver)
        rig.positioner.suspend()
        await rig.clock.advance(by: .seconds(seconds))

        rig.positioner.resume()
        #expect(rig.positioner.position.fine == nil && rig.positioner.startingPosition.fine == nil)
        #expect(rig.updates.count == 2)
        rig.home(rig.wifi, north: Self.away, accuracy: 100)

        #expect(rig.updates.last?.fine?.coordinate == Place.home.north(Self.away).coordinate)
        #expect(rig.updates.last?.fine?.timestamp == Timestamp(microseconds: rig.clock.wallTime))
    }

    @Test("nothing of the old place is given to who starts after the wake", arguments: [Fix.Kind.ip, .wifi])
    @ServiceActor
    func starting(kind: Fix.Kind) async {
        let rig = Rig([kind])
        rig.want(.city)
        rig.home(kind == .ip ? rig.address : rig.wifi, accuracy: 25_000)
        #expect(rig.positioner.startingPosition.coarse.count == 4)

        rig.positioner.suspend()
        await rig.clock.advance(by: .seconds(30))
        rig.positioner.resume()

        #expect(rig.positioner.position == Position())
        #expect(rig.positioner.startingPosition == Position())
    }

    @Test("a short sleep does not bring the tick forward: the first fix after it shows the cell that was kept")
    @ServiceActor
    func keptCell() async {
        let rig = Rig([.wifi])
        rig.want(.street)
        rig.home(rig.wifi, accuracy: 30)
        rig.positioner.suspend()
        rig.positioner.resume()

        rig.home(rig.wifi, north: Self.away, accuracy: 30)

        #expect(rig.updates.count == 2)
        #expect(rig.updates.first?.coarse == rig.updates.last?.coarse)
    }

    @Test("a receiver whose clock is behind after the wake is believed at once")
    @ServiceActor
    func receiverClock() async {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)
        rig.positioner.suspend()
        await rig.clock.advance(by: .seconds(5))
        rig.positioner.resume()

        let stamp = Timestamp(microseconds: rig.clock.wallTime - 3_600_000_000)
        rig.receiver.send(Place.home.latitude, Place.home.longitude, at: stamp)

        #expect(rig.updates.count == 2)
    }

    @Test("who comes and goes in the meantime counts at the wake")
    @ServiceActor
    func changes() {
        let rig = Rig()
        rig.positioner.suspend()

        rig.want(.exact)
        rig.want(.city)
        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { $0.demands.isEmpty })
        rig.positioner.resume()
        #expect(rig.address.isRunning && !rig.receiver.isRunning)
        rig.positioner.suspend()
        rig.want(nil)
        rig.positioner.resume()

        #expect(!rig.address.isRunning && rig.clock.pendingTimers == 0)
    }

    @Test("sources that come, go and change while the machine sleeps are not started before it wakes")
    @ServiceActor
    func sources() {
        let rig = Rig([.gnss, .wifi])
        rig.want(.exact)
        rig.positioner.suspend()

        rig.wifi.become(.none)
        rig.wifi.become(.street)
        rig.positioner.replaceSources([rig.wifi, rig.address])
        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { !$0.isRunning })
        rig.positioner.resume()

        #expect(rig.wifi.isRunning && rig.address.isRunning && !rig.receiver.isRunning)
        #expect(rig.positioner.availableLevel == .street)
    }

    @Test("a set place stands again as soon as its source has told it")
    @ServiceActor
    func fixed() {
        let clock = ManualClock()
        let fixed = ScriptedSource("static", kind: .fixed, clock: clock)
        fixed.onRun = { source, demand in if demand != nil { source.send(52.5, 13.4) } }
        let positioner = Positioner(sources: [fixed], clock: clock)
        positioner.demand = Demand(level: .exact, minimumInterval: 0)

        positioner.suspend()
        positioner.resume()

        #expect(positioner.startingPosition.fine?.kind == .fixed)
    }

    @Test("after a long sleep the first fix makes the cell at once, without waiting for the tick")
    @ServiceActor
    func cells() async {
        let rig = Rig()
        rig.want(.street)
        rig.home(rig.wifi, accuracy: 30)
        rig.positioner.suspend()
        await rig.clock.advance(by: .seconds(3601))
        rig.positioner.resume()

        rig.home(rig.wifi, north: Self.away, accuracy: 30)

        #expect(rig.updates.count == 2)
        #expect(rig.updates.first?.coarse[.street] != rig.updates.last?.coarse[.street])
    }

    @Test("suspended twice it wakes once, and a wake without sleep is none")
    @ServiceActor
    func twice() {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.positioner.resume()
        #expect(rig.positioner.position.fine != nil)
        rig.positioner.suspend()
        rig.positioner.suspend()
        rig.positioner.resume()

        #expect(rig.receiver.starts == 2)
    }
}
