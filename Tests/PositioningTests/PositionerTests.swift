import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: positions")
struct PositionerTests {
    init() { EventLoop.startThread() }

    @Test("each accepted fix is told once")
    @ServiceActor
    func everyFix() {
        let rig = Rig()
        rig.want(.exact)

        for step in 0..<10 { rig.home(rig.receiver, north: Double(step)) }

        #expect(rig.updates.count == 10)
        #expect(rig.updates.last?.fine?.coordinate == Place.home.north(9).coordinate)
        #expect(rig.updates.last?.coarse.count == 4)
    }

    @Test("a fix that is not picked is not told")
    @ServiceActor
    func notPicked() {
        let rig = Rig()
        rig.want(.exact)

        rig.home(rig.receiver)
        rig.home(rig.wifi, accuracy: 40)
        rig.home(rig.address, accuracy: 25_000)

        #expect(rig.updates.map { $0.fine?.kind } == [.gnss])
    }

    @Test("while satellite fixes are fresh they are the position; in silence Wi-Fi takes over, then they come back")
    @ServiceActor
    func noHop() async {
        let rig = Rig()
        rig.want(.exact)
        rig.address.send(52.6, 13.7, accuracy: 25_000)

        for second in 0..<120 {
            rig.home(rig.receiver, north: Double(second) * 10)
            if second % 10 == 5 { rig.home(rig.wifi, north: -2000, accuracy: 40) }
            await rig.clock.advance(by: .seconds(1))
        }
        #expect(rig.updates.dropFirst().allSatisfy { $0.fine?.kind == .gnss })

        let told = rig.updates.count
        let silence = rig.clock.now
        while rig.updates.count == told {
            await rig.clock.advance(by: .seconds(1))
            if (rig.clock.now - silence) / .seconds(1) == 5 { rig.home(rig.wifi, north: -2000, accuracy: 40) }
            guard rig.clock.now - silence < .seconds(120) else { break }
        }
        #expect((Duration.seconds(9)...Duration.seconds(60)).contains(rig.clock.now - silence))
        #expect(rig.updates.last?.fine?.kind == .wifi)
        #expect(rig.updates.last?.fine?.horizontalAccuracy == 40)

        rig.home(rig.receiver, north: 2000)
        #expect(rig.updates.last?.fine?.kind == .gnss)
    }

    @Test("an unplugged receiver gives way at once, and with nothing left nothing is told")
    @ServiceActor
    func loss() {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)
        rig.home(rig.receiver)

        rig.receiver.lose()
        #expect(rig.updates.map { $0.fine?.kind } == [.wifi, .gnss, .wifi])

        rig.wifi.lose()
        #expect(rig.updates.count == 3)
        #expect(rig.positioner.position.fine == nil)
        #expect(rig.positioner.position.coarse.count == 4)
    }

    @Test("one of several devices that is lost leaves the others")
    @ServiceActor
    func deviceLoss() {
        let rig = Rig()
        rig.want(.exact)
        rig.receiver.send(52.52, 13.405, accuracy: 5, device: "/dev/ttyUSB0")
        rig.receiver.send(52.5201, 13.405, accuracy: 8, device: "/dev/ttyUSB1")

        rig.receiver.lose(device: "/dev/ttyUSB0")

        #expect(rig.updates.map { $0.fine?.source } == ["gpsd:/dev/ttyUSB0", "gpsd:/dev/ttyUSB1"])
    }

    @Test("a fix that has expired is no position any more")
    @ServiceActor
    func expiry() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.receiver)

        await rig.clock.advance(by: .seconds(300))
        #expect(rig.positioner.position.fine != nil)
        await rig.clock.advance(by: .seconds(1))
        #expect(rig.positioner.position.fine == nil)
        #expect(rig.updates.count == 1)
    }

    @Test("the old place is not sent again after sleep, and the new one is no jump")
    @ServiceActor
    func sleep() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)

        await rig.clock.advance(by: .seconds(8 * 3600))
        #expect(rig.updates.count == 1)
        rig.wifi.send(Place.farAway.latitude, Place.farAway.longitude, accuracy: 40)

        #expect(rig.updates.count == 2)
        #expect(rig.updates.last?.fine?.coordinate == Place.farAway.coordinate)
    }

    @Test("a fix is handed on as it was judged, and not if its source has stated no accuracy")
    @ServiceActor
    func acceptance() {
        let rig = Rig()
        var accepted: [Fix] = []
        rig.positioner.onAcceptance = { accepted.append($0) }
        rig.want(.exact)

        rig.receiver.send(52.5, 13.4, accuracy: 1, at: Timestamp(seconds: 1))
        rig.receiver.send(52.5, 13.4, accuracy: nil)
        rig.home(rig.address, accuracy: 25_000)

        #expect(accepted.map(\.horizontalAccuracy) == [3])
        #expect(accepted.map(\.timestamp) == [Timestamp(microseconds: rig.clock.wallTime)])
    }

    // MARK: Coarse cells

    @Test("a city-level demand on a machine with only a receiver gets a coarse fix")
    @ServiceActor
    func onlyReceiver() {
        let rig = Rig([.gnss])
        rig.want(.city)
        #expect(rig.receiver.isRunning)

        rig.home(rig.receiver)

        let center = CoarseGrid.cell(containing: Place.home.coordinate, at: .city)?.center
        guard case .cell(let cell) = rig.updates.last?.coarse[.city] else {
            Issue.record("no cell for the city level")
            return
        }
        #expect(cell.coordinate == center)
        #expect(cell.radius == 15_000)
    }

    @Test("a cell that has changed is told at the tick, although no fix comes then")
    @ServiceActor
    func tick() async {
        let rig = Rig()
        rig.want(.exact)
        await rig.clock.advance(by: .seconds(10))
        rig.home(rig.receiver)
        rig.home(rig.receiver, north: 200)
        rig.receiver.send(Place.farAway.latitude, Place.farAway.longitude)
        let before = rig.updates.last

        await rig.clock.advance(by: .seconds(589))
        rig.receiver.send(Place.farAway.latitude, Place.farAway.longitude)
        #expect(rig.updates.last?.coarse == before?.coarse)
        await rig.clock.advance(by: .seconds(1))

        #expect(rig.updates.last?.coarse != before?.coarse)
        #expect(rig.updates.last?.fine?.coordinate == before?.fine?.coordinate)
        #expect(rig.updates.count == 5)
    }

    @Test("a tick at which no cell has changed tells nothing")
    @ServiceActor
    func quietTick() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.wifi, accuracy: 30)

        await rig.clock.advance(by: .seconds(1200))

        #expect(rig.updates.count == 1)
    }

    @Test("after a long time without clients the cell is handed on as it was, and the first fix renews it")
    @ServiceActor
    func longPause() async {
        let rig = Rig([.gnss])
        rig.want(.city)
        rig.home(rig.receiver)
        let before = rig.positioner.position.coarse
        rig.want(nil)
        await rig.clock.advance(by: .seconds(3600))

        rig.want(.city)
        #expect(rig.positioner.startingPosition == Position(coarse: before))
        rig.home(rig.receiver)

        guard case .cell(let old) = before[.city], case .cell(let new) = rig.updates.last?.coarse[.city] else {
            Issue.record("no cell for the city level")
            return
        }
        #expect(new.coordinate == old.coordinate)
        #expect(new.timestamp.seconds == old.timestamp.seconds + 3600)
    }

    // MARK: What a starting client gets

    @Test("a client that starts gets the current fix if it is at most a minute old, and waits otherwise")
    @ServiceActor
    func startingAge() async {
        let rig = Rig()
        rig.want(.exact)
        rig.home(rig.receiver)

        await rig.clock.advance(by: .seconds(60))
        #expect(rig.positioner.startingPosition.fine?.kind == .gnss)
        await rig.clock.advance(by: .milliseconds(1))
        #expect(rig.positioner.startingPosition.fine == nil)
        #expect(rig.positioner.startingPosition.coarse.count == 4)
    }

    @Test("a lookup's answer stands for a starting client as long as the lookup runs")
    @ServiceActor
    func standingLookup() async {
        let rig = Rig([.ip])
        rig.want(.city)
        rig.home(rig.address, accuracy: 25_000)
        await rig.clock.advance(by: .seconds(600))
        #expect(rig.positioner.startingPosition.fine?.kind == .ip)

        rig.want(nil)
        rig.want(.city)

        #expect(rig.positioner.startingPosition == Position())
        #expect(rig.positioner.position.fine?.kind == .ip)
        #expect(rig.positioner.position.coarse.count == 4)
    }

    @Test("what is coarse by kind is no position at any level once its source is lost, cells stay")
    @ServiceActor
    func lostAddress() {
        let rig = Rig([.wifi, .ip])
        rig.want(.city)
        rig.home(rig.address, accuracy: 25_000)
        #expect(rig.positioner.startingPosition.coarse.count == 4)

        rig.address.lose()
        #expect(rig.positioner.position == Position())
        #expect(rig.positioner.startingPosition == Position())
        rig.home(rig.wifi, accuracy: 30)
        rig.wifi.lose()

        #expect(rig.positioner.startingPosition.coarse.count == 4)
        #expect(rig.positioner.startingPosition.fine == nil)
    }

    @Test("nor is it once it has expired, or its source was lost while nobody asked", arguments: [true, false])
    @ServiceActor
    func deadAddress(isLost: Bool) async {
        let rig = Rig([.ip])
        rig.want(.city)
        rig.home(rig.address, accuracy: 25_000)
        rig.want(nil)

        if isLost { rig.address.lose() } else { await rig.clock.advance(by: .seconds(21_601)) }
        rig.want(.city)

        #expect(rig.positioner.position == Position())
        #expect(rig.positioner.startingPosition == Position())
    }

    @Test("a set place is never too old to start with")
    @ServiceActor
    func setPlace() async {
        let clock = ManualClock()
        let place = ScriptedSource("static", kind: .fixed, clock: clock)
        place.onRun = { source, demand in if demand != nil { source.send(10.5, 20.5, accuracy: 30) } }
        let positioner = Positioner(sources: [place], clock: clock)
        positioner.demand = Demand(level: .exact, minimumInterval: 0)

        await clock.advance(by: .seconds(100_000))

        #expect(positioner.startingPosition.fine?.kind == .fixed)
    }

    @Test("before there is anything, a starting client gets nothing")
    @ServiceActor
    func nothingYet() {
        let rig = Rig()
        rig.want(.exact)

        #expect(rig.positioner.startingPosition == Position())
        #expect(rig.updates.isEmpty)
    }

    // MARK: Availability

    @Test("the available level is the finest of all, and only its changes are told")
    @ServiceActor
    func availability() {
        let rig = Rig()
        #expect(rig.positioner.availableLevel == .exact)

        rig.wifi.become(.none)
        rig.address.become(.none)
        #expect(rig.levels.isEmpty)
        rig.receiver.become(.none)
        rig.receiver.become(.none)
        rig.address.become(.city)
        rig.wifi.become(.street)

        #expect(rig.levels == [.none, .city, .street])
        #expect(rig.positioner.availableLevel == .street)
    }

    @Test("neither a fix nor its loss changes the available level")
    @ServiceActor
    func availabilityWithoutFix() {
        let rig = Rig()
        rig.want(.exact)

        rig.home(rig.receiver)
        rig.receiver.lose()

        #expect(rig.levels.isEmpty)
        #expect(rig.positioner.availableLevel == .exact)
    }

    @Test("each source is asked once to look for its hardware, and what it finds is told")
    @ServiceActor
    func discovery() {
        let rig = Rig([.gnss])
        rig.receiver.become(.none)
        rig.receiver.onDiscover = { $0.become(.exact) }

        rig.positioner.discover()

        #expect(rig.receiver.discoveries == 1)
        #expect(rig.levels == [.none, .exact])
        #expect(!rig.receiver.isRunning)
    }
}
