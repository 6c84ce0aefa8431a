import Geolocation
import Positioning
import Testing

@Suite("Update thresholds")
struct UpdateThresholdTests {
    private var threshold = UpdateThreshold()

    /// Offers the place so many metres north of home, and delivers it if it passes.
    private mutating func offer(_ metres: Double, at time: Double) -> Bool {
        let coordinate = Place.home.north(metres).coordinate
        guard threshold.passes(coordinate, at: .start + time) else { return false }
        threshold.deliver(coordinate, at: .start + time)
        return true
    }

    @Test(
        "the first position always passes",
        arguments: [UpdateThreshold(distance: 1e5), UpdateThreshold(time: .max), UpdateThreshold(distance: 1, time: 1)])
    mutating func first(threshold: UpdateThreshold) {
        self.threshold = threshold

        #expect(offer(0, at: 0))
        #expect(!offer(0, at: 0))
    }

    @Test("without limits every position passes, one at the same place and time too")
    mutating func zero() {
        #expect(offer(0, at: 0))
        #expect(offer(0, at: 0))
    }

    @Test("distance counts from the position delivered last, so that small steps add up")
    mutating func smallSteps() {
        threshold.distance = 100

        let passed = [0.0, 40, 80, 120, 160, 221].filter { offer($0, at: $0) }

        #expect(passed == [0, 120, 221])
    }

    @Test("a distance of just the limit passes")
    mutating func atTheDistance() {
        let there = Place.home.north(100).coordinate
        threshold.distance = Place.home.coordinate.distance(to: there)

        #expect(offer(0, at: 0))
        #expect(threshold.passes(there, at: .start + 1))
    }

    @Test("time goes by whole seconds of the positions' own times, and just the limit passes")
    mutating func time() {
        threshold.time = 20

        #expect(offer(0, at: 0.9))
        #expect(!offer(0, at: 19.9))
        #expect(offer(0, at: 20.1))
    }

    @Test("time counts from the position delivered last")
    mutating func timeFromLast() {
        threshold.time = 30

        let passed = [0.0, 10, 25, 35, 45, 64, 65].filter { offer(1000 * $0, at: $0) }

        #expect(passed == [0, 35, 65])
    }

    @Test("with both limits, far but soon and late but near are held back")
    mutating func both() {
        threshold = UpdateThreshold(distance: 100, time: 20)

        #expect(offer(0, at: 0))
        #expect(!offer(500, at: 5))
        #expect(!offer(10, at: 35))
        #expect(offer(500, at: 40))
    }

    @Test("at walking pace with a limit of 10 s and 200 m an update comes every 40 s")
    mutating func walk() {
        threshold = UpdateThreshold(distance: 200, time: 10)

        // A hair more than 5 m/s, so that 200 m are not missed by a rounding error.
        let passed = (0...200).filter { offer(Double($0) * 5.0001, at: Double($0)) }

        #expect(passed == [0, 40, 80, 120, 160, 200])
    }

    @Test("noise around one point is one update, and the new point one more")
    mutating func noise() {
        threshold.distance = 500
        let noise = (0..<600).map { Double(($0 * 37) % 41) - 20 }

        let passed = (noise + noise.map { $0 + 600 }).enumerated().filter { offer($1, at: Double($0)) }

        #expect(passed.map(\.offset) == [0, 600])
    }

    @Test("a limit that is changed holds for the next position")
    mutating func changed() {
        #expect(offer(0, at: 0))
        threshold.distance = 100
        #expect(!offer(50, at: 1))
        threshold.distance = 0
        #expect(offer(60, at: 2))
        threshold.time = 60
        #expect(!offer(1000, at: 3))
        threshold.time = 0
        #expect(offer(1100, at: 4))
    }

    @Test("a new time base does not silence a client for as long as it steps back")
    mutating func timeBase() {
        threshold.time = 60

        #expect(offer(0, at: 0))
        #expect(offer(0, at: -3600))
        #expect(!offer(0, at: -3599))
    }

    @Test("after a reset the next position passes as the first did")
    mutating func reset() {
        threshold.distance = 100
        #expect(offer(0, at: 0))

        threshold.reset()

        #expect(offer(1, at: 1))
        #expect(threshold.distance == 100)
    }
}
