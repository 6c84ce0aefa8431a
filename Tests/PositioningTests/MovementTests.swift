import Geolocation
import Positioning
import Testing

@Suite("Speed and heading")
struct MovementTests {
    private var arbiter = Arbiter()

    private mutating func consider(_ fix: Fix) -> Fix? {
        _ = arbiter.consider(fix, at: fix.measuredAt, wallTime: .start + fix.measuredAt / .seconds(1))
        return arbiter.current
    }

    @Test("what the receiver says stands")
    mutating func given() {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 10, Place.home.north(111), speed: 5.14, heading: 90))

        #expect(fix?.speed == 5.14)
        #expect(fix?.heading == 90)
    }

    @Test("the first fix has neither")
    mutating func first() {
        let fix = consider(.sample(.gnss))

        #expect(fix != nil)
        #expect(fix?.speed == nil)
        #expect(fix?.heading == nil)
    }

    @Test("what the receiver does not say is worked out from its fix before")
    mutating func derived() throws {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 10, Place.home.north(111)))

        #expect(abs(try #require(fix?.speed) - 11.1) < 1e-3)
        #expect(abs(try #require(fix?.heading)) < 1e-6)
    }

    @Test("the fixes' own times count, not when they arrive")
    mutating func ownTimes() throws {
        _ = consider(.sample(.gnss, at: 0, stamp: .start + -200))
        let fix = consider(.sample(.gnss, at: 0.01, Place.home.north(111), stamp: .start + -195))

        #expect(abs(try #require(fix?.speed) - 22.2) < 1e-3)
    }

    @Test("a heading that the receiver leaves out is worked out beside its speed")
    mutating func headingOnly() throws {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 1, Place.home.north(-5), speed: 5))

        #expect(fix?.speed == 5)
        #expect(abs(try #require(fix?.heading) - 180) < 1e-6)
    }

    @Test("a fix more than ten seconds older tells nothing", arguments: [10.1, 60])
    mutating func tooOld(gap: Double) {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: gap, Place.home.north(111)))

        #expect(fix?.speed == nil)
        #expect(fix?.heading == nil)
    }

    @Test("two fixes of one time tell nothing")
    mutating func sameTime() {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 0.5, Place.home.north(111), stamp: .start))

        #expect(fix?.speed == nil)
    }

    @Test("a receiver whose clock is set back did not move backwards")
    mutating func timeBase() {
        for second in 0...11 {
            let stamp = Timestamp.start + (second == 0 ? 100 - 200 : -200 + Double(second))
            _ = consider(.sample(.gnss, at: Double(second), Place.home.north(Double(second)), stamp: stamp))
        }

        #expect(arbiter.current?.timestamp == .start + -189)
        #expect(arbiter.current?.speed == nil)
    }

    @Test("nothing is worked out from the fixes of two sources")
    mutating func twoSources() {
        _ = consider(.sample(.wifi, accuracy: 40))
        let gnss = consider(.sample(.gnss, at: 1, Place.home.north(20)))
        #expect(gnss?.kind == .gnss)
        #expect(gnss?.speed == nil)

        _ = consider(.sample(.gnss, at: 2, Place.home.north(20), source: "gpsd:/dev/ttyUSB1"))
        arbiter.lose("gnss", at: .seconds(3))
        #expect(arbiter.current?.source == "gpsd:/dev/ttyUSB1")
        #expect(arbiter.current?.speed == nil)
    }

    @Test("a lookup's places give no speed")
    mutating func lookup() {
        _ = consider(.sample(.wifi, accuracy: 30))
        let fix = consider(.sample(.wifi, at: 10, Place.home.north(111), accuracy: 30))

        #expect(fix?.speed == nil)
    }

    @Test("a jump is no movement")
    mutating func jump() {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 1, .farAway))

        #expect(fix?.coordinate == Place.farAway.coordinate)
        #expect(fix?.speed == nil)
        #expect(fix?.heading == nil)
    }

    @Test("standing still has a speed of nothing and no heading")
    mutating func still() {
        _ = consider(.sample(.gnss))
        let fix = consider(.sample(.gnss, at: 1))

        #expect(fix?.speed == 0)
        #expect(fix?.heading == nil)
    }

    @Test("below half a metre a second a heading is noise", arguments: [(0.49, nil), (0.5, 123.0)])
    mutating func slow(speed: Double, heading: Double?) {
        let fix = consider(.sample(.gnss, speed: speed, heading: 123))

        #expect(fix?.speed == speed)
        #expect(fix?.heading == heading)
    }
}
