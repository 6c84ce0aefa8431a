import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@Suite("Positioner: the system clock is set")
struct ClockStepTests {
    init() { EventLoop.startThread() }

    private static let steps = [Duration.seconds(-864_000), .seconds(-3600), .seconds(3600), .seconds(864_000)]

    @Test("fixes stamped by the clock go on without a gap longer than ten of them", arguments: steps)
    @ServiceActor
    func stamps(step: Duration) async {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.clock.stepWallTime(by: step)
        for _ in 0..<11 {
            await rig.clock.advance(by: .seconds(1))
            rig.home(rig.receiver)
        }

        #expect(rig.updates.last?.fine?.timestamp == Timestamp(microseconds: rig.clock.wallTime))
        #expect(rig.updates.last?.fine?.measuredAt == rig.clock.now)
    }

    @Test("a receiver that goes by its own clock goes on at once, stamped with what can be right", arguments: steps)
    @ServiceActor
    func ownStamps(step: Duration) async {
        let rig = Rig([.gnss])
        rig.want(.exact)
        var stamp = rig.clock.wallTime
        rig.receiver.send(Place.home.latitude, Place.home.longitude, at: Timestamp(microseconds: stamp))

        rig.clock.stepWallTime(by: step)
        for count in 2...20 {
            await rig.clock.advance(by: .seconds(1))
            stamp += 1_000_000
            rig.receiver.send(Place.home.latitude, Place.home.longitude, at: Timestamp(microseconds: stamp))
            #expect(rig.updates.count == count)
        }

        let difference = (rig.updates.last?.fine?.timestamp.microseconds ?? 0) - rig.clock.wallTime
        #expect(difference <= 5_000_000 && difference >= -86_400_000_000)
    }

    @Test("what is known is neither older nor younger by it, and no timer fires sooner or later", arguments: steps)
    @ServiceActor
    func ages(step: Duration) async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.home(rig.receiver)

        rig.clock.stepWallTime(by: step)

        #expect(rig.positioner.startingPosition.fine?.kind == .gnss)
        await rig.clock.advance(by: .seconds(10))
        #expect(rig.updates.count == 2)
        await rig.clock.advance(by: .seconds(600))
        #expect(rig.updates.last?.fine?.kind == .wifi)
        #expect(rig.positioner.position.fine?.kind == .wifi)
    }

    @Test("a cell changes at ten minutes' distance, whatever the clock says", arguments: steps)
    @ServiceActor
    func cells(step: Duration) async {
        let rig = Rig([.gnss])
        rig.want(.street)
        rig.home(rig.receiver)
        // On a tick, from which the next is as far as ticks are apart.
        await rig.clock.advance(by: .seconds(600))
        rig.home(rig.receiver)
        let before = rig.updates.last?.coarse[.street]

        rig.clock.stepWallTime(by: step + .seconds(7))
        rig.home(rig.receiver, north: 50_000)
        for _ in 0..<2 {
            await rig.clock.advance(by: .seconds(299))
            rig.home(rig.receiver, north: 50_000)
            #expect(rig.updates.last?.coarse[.street] == before)
        }
        await rig.clock.advance(by: .seconds(2))

        #expect(rig.updates.last?.coarse[.street] != before)
    }
}
