import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: power")
struct PositionerPowerTests {
    init() { EventLoop.startThread() }

    @Test("nothing runs and no timer is set before anything is asked for")
    @ServiceActor
    func atRest() {
        let rig = Rig()

        rig.positioner.discover()

        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { $0.demands.isEmpty })
        #expect(rig.clock.pendingTimers == 0)
    }

    @Test("with the last client all sources stop and all timers end")
    @ServiceActor
    func lastClient() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.home(rig.receiver)
        #expect(rig.clock.pendingTimers > 0)

        rig.want(nil)

        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { !$0.isRunning })
        #expect(rig.clock.pendingTimers == 0)
        let told = rig.updates.count
        await rig.clock.advance(by: .seconds(4000))
        #expect(rig.updates.count == told)
    }

    @Test("a source is told of a demand once, and of each change of it")
    @ServiceActor
    func demands() {
        let rig = Rig([.gnss])

        rig.want(.exact, interval: 60)
        rig.want(.exact, interval: 60)
        rig.want(.exact, interval: 10)
        rig.want(nil)
        rig.want(nil)

        #expect(
            rig.receiver.demands == [
                Demand(level: .exact, minimumInterval: 60), Demand(level: .exact, minimumInterval: 10), nil,
            ])
    }

    @Test("a city-level demand powers neither the receiver nor Wi-Fi where the address serves")
    @ServiceActor
    func city() {
        let rig = Rig()

        rig.want(.city)

        #expect(rig.address.isRunning)
        #expect(rig.receiver.demands.isEmpty)
        #expect(rig.wifi.demands.isEmpty)
    }

    @Test("the receiver helps a city-level demand while the address cannot serve, and no longer")
    @ServiceActor
    func helpingReceiver() {
        let rig = Rig([.gnss, .ip])
        rig.want(.city)

        rig.address.become(.none)
        #expect(rig.receiver.isRunning)
        rig.address.become(.city)

        #expect(!rig.receiver.isRunning)
        #expect(rig.address.isRunning)
    }

    @Test("the receiver stops when the client that needed it leaves the others")
    @ServiceActor
    func exactLeaves() {
        let rig = Rig()
        rig.want(.exact)
        #expect([rig.receiver, rig.wifi, rig.address].allSatisfy { $0.isRunning })

        rig.want(.city)

        #expect(!rig.receiver.isRunning)
        #expect(!rig.wifi.isRunning)
        #expect(rig.address.demands.last == Demand(level: .city, minimumInterval: 0))
    }

    @Test("a source that appears while it is wanted is started")
    @ServiceActor
    func appears() {
        let rig = Rig([.gnss])
        rig.receiver.become(.none)
        rig.want(.exact)
        #expect(rig.receiver.demands.isEmpty)

        rig.receiver.become(.exact)

        #expect(rig.receiver.isRunning)
    }

    @Test("a receiver that is pulled and plugged in again is not restarted, and its fixes count again")
    @ServiceActor
    func pulled() {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.receiver.lose()
        rig.receiver.become(.none)
        rig.receiver.become(.exact)
        rig.home(rig.receiver, north: 10)

        #expect(rig.receiver.starts == 1)
        #expect(rig.updates.count == 2)
    }

    // MARK: Grace

    @Test("a receiver goes on for its grace, and then stops")
    @ServiceActor
    func grace() async {
        let rig = Rig([.gnss], grace: .seconds(15))
        rig.want(.exact)

        rig.want(nil)
        await rig.clock.advance(by: .milliseconds(14_999))
        #expect(rig.receiver.isRunning)
        await rig.clock.advance(by: .milliseconds(1))

        #expect(!rig.receiver.isRunning)
        #expect(rig.clock.pendingTimers == 0)
    }

    @Test("clients that come and go do not toggle the receiver")
    @ServiceActor
    func notToggled() async {
        let rig = Rig([.gnss], grace: .seconds(15))

        for round in 0..<50 {
            rig.want(.exact)
            await rig.clock.advance(by: .seconds(round % 7))
            rig.want(nil)
            await rig.clock.advance(by: .seconds(round % 15))
        }
        await rig.clock.advance(by: .seconds(15))

        #expect(rig.receiver.demands == [Demand(level: .exact, minimumInterval: 0), nil])
    }

    @Test("a receiver in its grace that is wanted for something else learns of it")
    @ServiceActor
    func graceWithOtherDemand() async {
        let rig = Rig([.gnss], grace: .seconds(15))
        rig.want(.exact)
        rig.want(nil)
        await rig.clock.advance(by: .seconds(5))

        rig.want(.city)
        await rig.clock.advance(by: .seconds(60))

        #expect(rig.receiver.demands.map { $0?.level } == [.exact, .city])
    }

    @Test("a grace that is taken back ends at once, and nobody's work with it", arguments: [true, false])
    @ServiceActor
    func noGrace(isWanted: Bool) async {
        let rig = Rig([.gnss], grace: .seconds(15))
        rig.want(.exact)
        rig.want(nil)
        if isWanted { rig.want(.exact) }

        rig.positioner.endGrace()

        #expect(rig.receiver.isRunning == isWanted && rig.receiver.starts == 1)
        #expect(rig.clock.pendingTimers == 0)
    }

    @Test("a fix that comes in the grace is told to nobody, and serves a client that starts then")
    @ServiceActor
    func fixInGrace() async {
        let rig = Rig([.gnss], grace: .seconds(15))
        rig.want(.exact)
        rig.home(rig.receiver)
        rig.want(nil)
        await rig.clock.advance(by: .seconds(5))

        rig.home(rig.receiver, north: 10)
        #expect(rig.updates.count == 1)
        #expect(rig.clock.pendingTimers == 1)
        rig.want(.exact)

        #expect(rig.positioner.startingPosition.fine?.coordinate == Place.home.north(10).coordinate)
    }

    // MARK: Timers

    @Test("a receiver alone at one fix a second sets no timer but the tick")
    @ServiceActor
    func aloneAtOneHertz() async {
        let rig = Rig([.gnss])
        rig.want(.exact)

        for _ in 0..<100 {
            rig.home(rig.receiver)
            await rig.clock.advance(by: .seconds(1))
        }

        #expect(rig.clock.pendingTimers == 1)
    }

    @Test("however many fixes come, two timers are the most that are set")
    @ServiceActor
    func timersDoNotPileUp() {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)

        for step in 0..<2000 { rig.home(rig.receiver, north: Double(step) / 100) }

        #expect(rig.clock.pendingTimers == 2)
        #expect(rig.updates.count == 2001)
    }

    @Test("a demand that comes back chooses again, since nothing was chosen in between")
    @ServiceActor
    func chosenAgain() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.receiver.send(52.52, 13.405, accuracy: 5, speed: 30)
        rig.want(nil)

        await rig.clock.advance(by: .seconds(30))
        #expect(rig.positioner.position.fine?.kind == .gnss)
        rig.want(.exact)

        #expect(rig.positioner.startingPosition.fine?.kind == .wifi)
    }

    @Test("a fix a millisecond does not set a timer each")
    @ServiceActor
    func fewTimers() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)

        for step in 0..<1000 {
            let place = Place.home.north(Double(step) / 100)
            rig.receiver.send(place.latitude, place.longitude, speed: 10)
            await rig.clock.advance(by: .milliseconds(1))
        }

        #expect(rig.clock.timersSet == 2)
    }

    // MARK: Sharpness

    @Test(
        "a lookup is spared by a receiver's fix that is fresh and good enough, not by a stranger's, and by a set place")
    @ServiceActor
    func sharpness() async throws {
        let rig = Rig()
        let place = try #require(Coordinate(latitude: 10.5, longitude: 20))
        func fix(_ kind: Fix.Kind, accuracy: Double, isForeign: Bool = false) -> Fix {
            Fix(
                coordinate: place, horizontalAccuracy: accuracy, timestamp: Timestamp(microseconds: rig.clock.wallTime),
                measuredAt: rig.clock.now, kind: kind, source: "gpsd", isForeign: isForeign)
        }

        rig.want(.exact)
        rig.receiver.send(fix(.gnss, accuracy: 51))
        #expect(!rig.positioner.isSharp)
        rig.want(.city)
        #expect(rig.positioner.isSharp)
        rig.want(.exact)
        rig.receiver.send(fix(.gnss, accuracy: 50))
        #expect(rig.positioner.isSharp)
        await rig.clock.advance(by: .seconds(10))
        #expect(!rig.positioner.isSharp)
        rig.receiver.send(fix(.gnss, accuracy: 5, isForeign: true))
        #expect(!rig.positioner.isSharp)
        rig.receiver.send(fix(.wifi, accuracy: 5))
        #expect(!rig.positioner.isSharp)
        rig.receiver.send(fix(.fixed, accuracy: 50))
        await rig.clock.advance(by: .seconds(3600))

        #expect(rig.positioner.isSharp)
    }
}
