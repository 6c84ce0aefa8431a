import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: compass")
struct HeadingTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private func rig() -> (Rig, ScriptedCompass) {
        let (rig, needle) = (Rig(), ScriptedCompass())
        rig.positioner.compass = needle
        return (rig, needle)
    }

    @Test("it is wanted while somebody wants exact positions, and not while the machine sleeps")
    @ServiceActor
    func wanted() {
        let (rig, needle) = rig()
        #expect(!needle.isWanted)

        rig.want(.street)
        #expect(!needle.isWanted)
        rig.want(.exact)
        #expect(needle.isWanted)
        rig.positioner.suspend()
        #expect(!needle.isWanted)
        rig.positioner.resume()
        #expect(needle.isWanted)
        rig.want(.city)

        #expect(!needle.isWanted)
    }

    @Test("it goes before the course, and a turn tells the fix again with the time it had")
    @ServiceActor
    func turned() async {
        let (rig, needle) = rig()
        rig.want(.exact)
        needle.turn(200)
        rig.receiver.send(52.5, 13.4, speed: 5, heading: 90)
        await rig.clock.advance(by: .seconds(2))

        needle.turn(210)
        needle.turn(nil)

        #expect(rig.updates.map(\.fine?.heading) == [200, 210, 90])
        #expect(Set(rig.updates.map(\.fine?.timestamp)).count == 1)
    }

    @Test("a client that starts gets what was told last, whatever the compass says now")
    @ServiceActor
    func starting() async {
        let (rig, needle) = rig()
        rig.want(.exact)
        rig.home(rig.receiver)
        needle.turn(210)
        rig.want(nil)

        #expect(rig.positioner.position.fine == rig.updates.last?.fine)
        #expect(rig.positioner.startingPosition.fine?.heading == 210)
    }

    @Test("a place that is no measurement, or none any more, is not turned")
    @ServiceActor
    func others() async {
        let (rig, needle) = rig()
        rig.want(.exact)
        needle.turn(10)
        #expect(rig.updates.isEmpty)
        rig.home(rig.address, accuracy: 25_000)

        needle.turn(210)
        rig.home(rig.receiver)
        await rig.clock.advance(by: .seconds(301))
        needle.turn(100)

        #expect(rig.updates.map(\.fine?.heading) == [nil, 210, nil])
    }

    @Test("a fix that has come since is not told with the heading of the one before it")
    @ServiceActor
    func unwanted() async {
        let (rig, needle) = (Rig(grace: .seconds(15)), ScriptedCompass())
        rig.positioner.compass = needle
        rig.want(.exact)
        needle.turn(210)
        rig.home(rig.receiver)
        rig.want(nil)
        await rig.clock.advance(by: .seconds(1))

        rig.receiver.send(52.5, 13.4, speed: 5, heading: 90)
        rig.want(.exact)

        #expect(rig.positioner.startingPosition.fine?.heading == 90)
    }

    @Test("the heading of one that is taken away counts no more")
    @ServiceActor
    func takenHeading() {
        let (rig, needle) = rig()
        rig.want(.exact)
        needle.turn(210)
        rig.home(rig.receiver)

        rig.positioner.compass = nil

        #expect(rig.positioner.position.fine?.heading == nil)
    }

    @Test("one that is taken away is let go")
    @ServiceActor
    func taken() {
        let (rig, needle) = rig()
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.positioner.compass = nil
        needle.turn(20)

        #expect(!needle.isWanted && rig.updates.count == 1)
    }
}
