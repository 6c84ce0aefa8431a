import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Positioner: condition")
struct ConditionTests {
    init() { EventLoop.startThread() }

    /// What a positioner has said of itself.
    @ServiceActor
    private final class Said {
        private(set) var conditions: [PositioningCondition] = []

        init(_ rig: Rig) { rig.positioner.onConditionChange = { [unowned self] in conditions.append($0) } }
    }

    @Test("it is acquiring until a fix comes, delivering until it is lost for good, and idle when nobody asks")
    @ServiceActor
    func course() async {
        let rig = Rig([.gnss])
        let said = Said(rig)
        #expect(rig.positioner.condition == .idle)

        rig.want(.exact)
        rig.home(rig.receiver)
        rig.receiver.lose()
        await rig.clock.advance(by: .seconds(5))
        rig.want(nil)

        #expect(said.conditions == [.acquiring, .delivering, .acquiring, .idle])
        #expect(rig.clock.pendingTimers == 0)
    }

    @Test("with nothing that could find a position it is without a source five seconds later, until something comes")
    @ServiceActor
    func noSource() async {
        let rig = Rig([.wifi])
        let said = Said(rig)
        rig.wifi.become(.none)
        rig.want(.city)

        await rig.clock.advance(by: .milliseconds(4999))
        #expect(said.conditions == [.acquiring])
        await rig.clock.advance(by: .milliseconds(1))
        #expect(rig.positioner.condition == .noSource)
        rig.wifi.become(.street)

        #expect(said.conditions == [.acquiring, .noSource, .acquiring])
    }

    @Test("what comes and goes faster than that is not told")
    @ServiceActor
    func flapping() async {
        let rig = Rig([.gnss])
        let said = Said(rig)
        rig.want(.exact)
        rig.home(rig.receiver)

        for _ in 0..<50 {
            rig.receiver.lose()
            rig.receiver.become(.none)
            await rig.clock.advance(by: .seconds(2))
            rig.receiver.become(.exact)
            rig.home(rig.receiver)
            await rig.clock.advance(by: .seconds(1))
        }

        #expect(said.conditions == [.acquiring, .delivering])
    }

    @Test("a loss that becomes worse while it is waited for is told as what it has become")
    @ServiceActor
    func worse() async {
        let rig = Rig([.gnss])
        let said = Said(rig)
        rig.want(.exact)
        rig.home(rig.receiver)

        rig.receiver.lose()
        await rig.clock.advance(by: .seconds(3))
        rig.receiver.become(.none)
        await rig.clock.advance(by: .seconds(2))

        #expect(said.conditions == [.acquiring, .delivering, .noSource])
    }

    @Test("a client that starts on what is known already is delivered to, one that has to wait is not")
    @ServiceActor
    func starting() async {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)
        rig.want(nil)

        await rig.clock.advance(by: .seconds(30))
        rig.want(.exact)
        #expect(rig.positioner.condition == .delivering)
        rig.want(nil)
        await rig.clock.advance(by: .seconds(60))
        rig.want(.exact)

        #expect(rig.positioner.condition == .acquiring)
    }

    @Test("sources of kinds that nobody may have are none")
    @ServiceActor
    func kinds() async {
        let rig = Rig([.wifi])
        rig.positioner.demand = Demand(level: .exact, minimumInterval: 0, kinds: [.gnss])

        await rig.clock.advance(by: .seconds(5))
        #expect(rig.positioner.condition == .noSource && !rig.wifi.isRunning)
        rig.want(.exact)

        #expect(rig.positioner.condition == .acquiring && rig.wifi.isRunning)
    }

    @Test("sleep has its own name while somebody asks")
    @ServiceActor
    func sleep() {
        let rig = Rig([.gnss])
        let said = Said(rig)
        rig.positioner.suspend()
        #expect(rig.positioner.condition == .idle)

        rig.want(.exact)
        rig.positioner.resume()
        rig.home(rig.receiver)
        rig.positioner.suspend()
        rig.want(nil)

        #expect(said.conditions == [.suspended, .acquiring, .delivering, .suspended, .idle])
    }

    @Test("a fix that has expired without a word shows with the next tick")
    @ServiceActor
    func expired() async {
        let rig = Rig([.gnss])
        rig.want(.exact)
        rig.home(rig.receiver)

        await rig.clock.advance(by: .seconds(606))

        #expect(rig.positioner.condition == .acquiring)
    }
}
