import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: other sources")
struct ReplacingSourcesTests {
    init() { EventLoop.startThread() }

    @Test("a source that stays is neither restarted nor forgotten")
    @ServiceActor
    func kept() {
        let rig = Rig([.gnss, .wifi])
        rig.positioner.discover()
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.positioner.replaceSources([rig.receiver, rig.address])

        #expect(rig.receiver.demands.count == 1)
        #expect(rig.receiver.discoveries == 1)
        #expect(rig.positioner.position.fine?.source == "gpsd")
        rig.home(rig.receiver, north: 10)
        #expect(rig.updates.count == 2)
    }

    @Test("a source that goes is stopped without grace, and what it found no longer counts")
    @ServiceActor
    func gone() async {
        let rig = Rig([.gnss, .wifi], grace: .seconds(15))
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 40)
        rig.receiver.send(Place.home.latitude, Place.home.longitude, device: "/dev/ttyUSB0")

        rig.positioner.replaceSources([rig.wifi])

        #expect(rig.receiver.demands.last == .some(nil))
        #expect(rig.receiver.report == nil)
        #expect(rig.updates.last?.fine?.source == "wifi")
        #expect(rig.positioner.position.fine?.source == "wifi")
    }

    @Test("one that comes looks for its hardware, runs for the demand there is, and counts towards the level")
    @ServiceActor
    func come() {
        let rig = Rig([.ip])
        rig.positioner.discover()
        rig.want(.exact, interval: 10)

        rig.positioner.replaceSources([rig.address, rig.receiver])

        #expect(rig.receiver.discoveries == 1)
        #expect(rig.receiver.demands == [Demand(level: .exact, minimumInterval: 10)])
        #expect(rig.levels == [.exact])
        rig.home(rig.receiver)
        #expect(rig.updates.last?.fine?.source == "gpsd")
    }

    @Test("with nothing left the last position stays as it was and the level says none")
    @ServiceActor
    func nothing() {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.positioner.replaceSources([])

        #expect(rig.levels == [.none])
        #expect(rig.updates.count == 1)
        #expect(rig.positioner.position.fine == nil)
    }

    @Test("a source of the same name as one before it begins anew")
    @ServiceActor
    func sameName() {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)
        let successor = ScriptedSource("gpsd", clock: rig.clock)

        rig.positioner.replaceSources([successor])

        #expect(rig.positioner.position.fine == nil)
        #expect(successor.isRunning)
        rig.home(successor, north: 100_000)
        #expect(rig.updates.count == 2)
    }

    @Test("nothing runs and no timer is set if nobody asks")
    @ServiceActor
    func atRest() {
        let rig = Rig([.gnss])

        rig.positioner.replaceSources([rig.wifi, rig.address])

        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { !$0.isRunning })
        #expect(rig.clock.pendingTimers == 0)
    }
}
