import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("When to choose again")
struct ArbiterReconsiderationTests {
    @Test("alone, the current fix needs no second look")
    func noRival() {
        var arbiter = Arbiter()
        _ = arbiter.consider(.sample(.gnss), at: .zero, wallTime: .start)

        #expect(arbiter.nextChange(after: .zero) == nil)
    }

    /// Two fixes of one moment, the one that is picked first.
    struct Rivals: Sendable, CustomTestStringConvertible {
        let first, second: Fix

        init(_ first: Fix, _ second: Fix) { (self.first, self.second) = (first, second) }

        var testDescription: String {
            [first, second].map { "\($0.kind) to \(Int($0.horizontalAccuracy ?? 0)) m" }.joined(separator: ", ")
        }
    }

    @Test(
        "choosing again at the announced moment changes the pick, and a moment before does not",
        arguments: [
            // The end of the hold; where the lines cross; the current fix's expiry.
            Rivals(.sample(.gnss, accuracy: 8, speed: 30), .sample(.wifi, accuracy: 30)),
            Rivals(.sample(.gnss, accuracy: 8, speed: 25), .sample(.cell, accuracy: 1500)),
            Rivals(.sample(.gnss, accuracy: 5), .sample(.fixed, accuracy: 30)),
            Rivals(.sample(.gnss, accuracy: 5), .sample(.fixed, accuracy: 5)),
            Rivals(.sample(.wifi, accuracy: 30), .sample(.ip, accuracy: 25_000)),
        ])
    func nextChange(rivals: Rivals) throws {
        var arbiter = Arbiter()
        for fix in [rivals.first, rivals.second] { _ = arbiter.consider(fix, at: .zero, wallTime: .start) }
        let moment = try #require(arbiter.nextChange(after: .zero))

        arbiter.reconsider(at: moment - .milliseconds(2))
        #expect(arbiter.current?.kind == rivals.first.kind)
        arbiter.reconsider(at: moment)
        #expect(arbiter.current?.kind == rivals.second.kind)
    }

    @Test("before the announced moment choosing again never changes the pick", arguments: 0..<200)
    func quietUntilNextChange(seed: UInt64) {
        var generator = SplitMix64(seed)
        var arbiter = Arbiter()
        var now = 0.0

        for _ in 0..<50 {
            now += Double.random(in: 0...40, using: &generator)
            let kind = Fix.Kind.allCases.randomElement(using: &generator) ?? .gnss
            let place = Place.home.north(.random(in: 0...2000, using: &generator))
            let fix = Fix.sample(
                kind, at: now, place, accuracy: .random(in: 0...3000, using: &generator),
                speed: kind == .gnss ? .random(in: 0...40, using: &generator) : nil)
            _ = arbiter.consider(fix, at: .seconds(now), wallTime: .start + now)

            let picks = arbiter.picks
            let horizon = arbiter.nextChange(after: .seconds(now)).map { $0 / .seconds(1) - 0.002 } ?? now + 1e6
            guard horizon > now else { continue }
            for _ in 0..<5 {
                var later = arbiter
                later.reconsider(at: .seconds(.random(in: now...horizon, using: &generator)))
                #expect(later.picks == picks)
            }
        }
    }

    @Test("what has expired is no live pick, though it stays the current one")
    func livePick() {
        var arbiter = Arbiter()
        _ = arbiter.consider(.sample(.gnss), at: .zero, wallTime: .start)

        #expect(arbiter.livePick(at: .seconds(300)) != nil)
        #expect(arbiter.livePick(at: .seconds(301)) == nil)
        arbiter.lose("gnss", at: .seconds(1))
        #expect(arbiter.livePick(at: .seconds(1)) == nil)
        #expect(arbiter.current != nil)
    }
}

@Suite("A stranger's fixes") struct ForeignFixTests {
    @Test("they are chosen once a receiver has been silent for ten seconds, and nothing is looked at before")
    func nextChange() throws {
        var arbiter = Arbiter()
        _ = arbiter.consider(.sample(.gnss, accuracy: 190), at: .zero, wallTime: .start)
        _ = arbiter.consider(
            .sample(.gnss, at: 1, .farAway, accuracy: 3, source: "network-nmea:x", isForeign: true), at: .seconds(1),
            wallTime: .start + 1)

        let change = try #require(arbiter.nextChange(after: .seconds(1)))
        #expect(change == .milliseconds(10_001))
        arbiter.reconsider(at: change)

        #expect(arbiter.current?.isForeign == true)
    }
}
