import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: sources that answer at once")
struct PositionerReentranceTests {
    init() { EventLoop.startThread() }

    @Test("a source may report as it is started")
    @ServiceActor
    func reportsWhenStarted() {
        let rig = Rig()
        rig.address.onRun = { source, demand in
            if demand != nil { source.send(52.5, 13.4, accuracy: 25_000) }
        }

        rig.want(.city)

        #expect(rig.updates.count == 1)
        #expect(rig.address.demands.count == 1)
    }

    @Test("a client that has enough and stops inside the update leaves nothing running")
    @ServiceActor
    func stopsInsideUpdate() {
        let rig = Rig()
        rig.receiver.onRun = { source, demand in if demand != nil { source.send(52.5, 13.4) } }
        rig.positioner.onUpdate = { [unowned rig] _ in rig.want(nil) }

        rig.want(.exact)

        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { !$0.isRunning })
        #expect(rig.clock.pendingTimers == 0)
    }

    @Test("a source that says it cannot run as it is started makes room for the next one")
    @ServiceActor
    func failsWhenStarted() {
        let rig = Rig([.gnss, .ip])
        rig.address.onRun = { source, demand in if demand != nil { source.become(.none) } }

        rig.want(.city)

        #expect(rig.receiver.isRunning)
        #expect(rig.levels.isEmpty)
    }

    @Test("a source that changes its mind each time does not keep the positioner busy for ever")
    @ServiceActor
    func undecided() {
        let rig = Rig([.gnss, .ip])
        rig.address.onRun = { source, demand in source.become(demand == nil ? .city : .none) }

        rig.want(.city)

        #expect(rig.address.demands.count < 10)
    }
}
