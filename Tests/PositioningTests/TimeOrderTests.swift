import Geolocation
import Positioning
import Testing

@Suite("The order of a source's stamps")
struct TimeOrderTests {
    private var arbiter = Arbiter()

    /// Hands on a fix that arrives at second `now` with a stamp of its own.
    private mutating func consider(at now: Double, stamp: Timestamp, wallTime: Timestamp? = nil) -> Verdict {
        arbiter.consider(.sample(.gnss, at: now, stamp: stamp), at: .seconds(now), wallTime: wallTime ?? .start + now)
    }

    @Test("a receiver may be minutes behind the system clock")
    mutating func slowReceiver() {
        #expect(consider(at: 0, stamp: .start + -240) == .accept)
        #expect(arbiter.current?.timestamp == .start + -240)
        #expect(consider(at: 1, stamp: .start + -239) == .accept)
    }

    @Test("several fixes of one second pass, though their stamps are equal")
    mutating func equalStamps() {
        for tenth in 0..<10 {
            #expect(consider(at: Double(tenth) / 10, stamp: .start) == .accept)
        }
    }

    @Test("a fix with an older stamp than the one before it of the same source is dropped")
    mutating func older() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        #expect(consider(at: 1, stamp: .start + -30) == .ignore(.olderStamp))
        #expect(consider(at: 2, stamp: .start + 2) == .accept)
    }

    @Test("another source's stamps do not count")
    mutating func otherSource() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        let other = Fix.sample(.fixed, at: 1, accuracy: 0, stamp: .start + -30)
        #expect(arbiter.consider(other, at: .seconds(1), wallTime: .start + 1) == .accept)
    }

    @Test("after ten older fixes in a row, the source's new time base is taken")
    mutating func tenInARow() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        for tenth in 1...10 {
            #expect(consider(at: Double(tenth) / 10, stamp: .start + -100) == .ignore(.olderStamp))
        }
        #expect(consider(at: 1.1, stamp: .start + -100) == .accept)
        #expect(consider(at: 1.2, stamp: .start + -99) == .accept)
    }

    @Test("after ten seconds of older fixes, the source's new time base is taken")
    mutating func tenSeconds() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        #expect(consider(at: 5, stamp: .start + -100) == .ignore(.olderStamp))
        #expect(consider(at: 14.9, stamp: .start + -91) == .ignore(.olderStamp))
        #expect(consider(at: 15, stamp: .start + -90) == .accept)
    }

    @Test("a fix in order between older ones starts the count again")
    mutating func interrupted() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        for second in stride(from: 1.0, to: 40, by: 2) {
            #expect(consider(at: second, stamp: .start + -100) == .ignore(.olderStamp))
            #expect(consider(at: second + 1, stamp: .start + second) == .accept)
        }
    }

    @Test(
        "a stamp that cannot be right is replaced by the arrival time",
        arguments: [(5.0, 5.0), (5.1, 0), (1e9, 0), (-86_400, -86_400), (-86_401, 0), (-6e8, 0)])
    mutating func replacement(offset: Double, kept: Double) {
        #expect(consider(at: 0, stamp: .start + offset) == .accept)
        #expect(arbiter.current?.timestamp == .start + kept)
    }

    @Test("the arrival time of a measurement with an age is when it was measured")
    mutating func arrivalWithAge() {
        let fix = Fix.sample(.wifi, at: 0, accuracy: 30, stamp: .start + 1e6)

        #expect(arbiter.consider(fix, at: .seconds(20), wallTime: .start + 20) == .accept)

        #expect(arbiter.current?.timestamp == .start)
    }

    @Test("the extremes of time do no harm", arguments: [Int64.min, .max, 0])
    mutating func extremes(microseconds: Int64) {
        #expect(consider(at: 0, stamp: Timestamp(microseconds: microseconds)) == .accept)
        #expect(arbiter.current?.timestamp == .start)
        #expect(consider(at: 1, stamp: .start + 1) == .accept)
    }

    @Test("one stamp of the future does not block the right ones after it")
    mutating func oneOfTheFuture() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        #expect(consider(at: 1, stamp: .start + 1e8) == .accept)
        #expect(consider(at: 2, stamp: .start + 2) == .accept)
    }

    @Test("a receiver whose lead grows past what is believed goes on without a gap")
    mutating func growingLead() {
        #expect(consider(at: 0, stamp: .start + 4.9) == .accept)
        #expect(consider(at: 1, stamp: .start + 6.1) == .accept)
        #expect(consider(at: 2, stamp: .start + 7.2) == .accept)
    }

    @Test("a system clock that is set back does not stop a receiver that is right")
    mutating func systemClockSetBack() {
        #expect(consider(at: 0, stamp: .start) == .accept)
        #expect(consider(at: 1, stamp: .start + 1, wallTime: .start + -3600) == .accept)
        #expect(arbiter.current?.timestamp == .start + -3600)
        #expect(consider(at: 2, stamp: .start + 2, wallTime: .start + -3599) == .accept)
    }
}
