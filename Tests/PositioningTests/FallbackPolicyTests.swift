import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite("Fallback policy")
struct FallbackPolicyTests {
    private static let all = Set(Fix.Kind.allCases)
    private static let satellites: Set<Fix.Kind> = [.gnss, .fixed]
    private static let network: Set<Fix.Kind> = [.wifi, .cell, .ip, .fixed, .timezone]

    /// A policy whose acquisition began at second 0.
    private func policy(
        _ fallback: FallbackPolicy.Fallback, accuracy: Double = 0, timeout: Double? = 30,
        available: Set<Fix.Kind> = [.gnss, .wifi, .ip]
    ) -> FallbackPolicy {
        var policy = FallbackPolicy(fallback, accuracy: accuracy, timeout: timeout.map { .seconds($0) })
        policy.availabilityChanged(to: available)
        policy.begin(at: .zero)
        return policy
    }

    private func fix(_ kind: Fix.Kind, _ accuracy: Double = 5) -> Fix { .sample(kind, accuracy: accuracy) }

    private func give(_ fix: Fix, to policy: inout FallbackPolicy, at second: Double, isTaken: Bool = true) {
        let taken = policy.take(fix, at: .seconds(second))
        #expect(taken == isTaken, "\(fix.kind) at \(second) s")
    }

    // MARK: allow

    @Test("who allows everything has everything from the start, and hears of a time that is over once")
    func allow() {
        var policy = policy(.allow, accuracy: 50)

        #expect(policy.permitted(at: .zero) == Self.all)
        #expect(policy.problem(at: .seconds(29)) == nil)
        #expect(policy.nextLook(after: .zero) == .seconds(30))
        #expect(policy.problem(at: .seconds(30)) == .timedOut)
        #expect(policy.nextLook(after: .seconds(30)) == nil)
        give(fix(.ip, 25_000), to: &policy, at: 31)
        #expect(policy.problem(at: .seconds(31)) == nil)
        #expect(policy.permitted(at: .seconds(1000)) == Self.all)
    }

    @Test("without any source it is unavailable at once, and a source that comes is reason to hope")
    func nothing() {
        var policy = policy(.allow, available: [])
        #expect(policy.problem(at: .zero) == .unavailable)

        policy.availabilityChanged(to: [.wifi])

        #expect(policy.problem(at: .zero) == nil)
    }

    // MARK: never

    @Test("satellites or nothing: the network is never used, whatever it says and however long it takes")
    func never() {
        var policy = policy(.never)

        for second in [0.0, 29, 30, 1000] {
            #expect(policy.permitted(at: .seconds(second)) == Self.satellites)
            for kind in [Fix.Kind.wifi, .cell, .ip, .timezone] {
                give(fix(kind, 1), to: &policy, at: second, isTaken: false)
            }
        }
        #expect(policy.problem(at: .milliseconds(29_999)) == nil)
        #expect(policy.problem(at: .seconds(30)) == .timedOut)
        give(fix(.gnss, 80), to: &policy, at: 31)
        #expect(policy.problem(at: .seconds(31)) == nil && policy.nextLook(after: .seconds(31)) == nil)
    }

    @Test("satellites or nothing is unavailable at once without a receiver, and recovers when there is one")
    func neverAvailable() {
        var policy = policy(.never, available: [.wifi, .ip, .timezone])
        #expect(policy.problem(at: .zero) == .unavailable)

        policy.availabilityChanged(to: [.wifi, .gnss])

        #expect(policy.problem(at: .zero) == nil)
    }

    @Test("coarser needs that never fall back are for satellites all the same")
    func neverCoarse() {
        #expect(policy(.never, accuracy: 3000).permitted(at: .seconds(100)) == Self.satellites)
    }

    @Test("a set place serves any need, and stands for a receiver")
    func fixed() {
        var policy = policy(.never, available: [.fixed])

        #expect(policy.problem(at: .zero) == nil)
        give(fix(.fixed, 5000), to: &policy, at: 0)
        #expect(policy.nextLook(after: .zero) == nil)
    }

    // MARK: when-unavailable

    @Test("the network serves where no receiver can run, and leaves when one can")
    func whenUnavailable() {
        var policy = policy(.whenUnavailable, accuracy: 10, available: [.wifi])
        #expect(policy.permitted(at: .zero) == Self.all && policy.problem(at: .zero) == nil)

        policy.availabilityChanged(to: [.wifi, .gnss])

        #expect(policy.permitted(at: .zero) == Self.satellites)
    }

    @Test("the network serves when the acquisition's time is over, and has as long for itself")
    func afterTimeout() {
        let policy = policy(.whenUnavailable, accuracy: 10)

        #expect(policy.permitted(at: .milliseconds(29_999)) == Self.satellites)
        #expect(policy.nextLook(after: .zero) == .seconds(30))
        #expect(policy.permitted(at: .seconds(30)) == Self.all)
        #expect(policy.problem(at: .seconds(30)) == nil)
        #expect(policy.nextLook(after: .seconds(30)) == .seconds(60))
        #expect(policy.problem(at: .seconds(60)) == .timedOut)
    }

    @Test("a fix that is not good enough is given, and does not end the wait for a better one")
    func belowRequest() {
        var policy = policy(.whenUnavailable, accuracy: 10)

        give(fix(.gnss, 40), to: &policy, at: 5)
        #expect(policy.permitted(at: .seconds(30)) == Self.all)
        #expect(policy.problem(at: .seconds(60)) == nil)
    }

    @Test("a good fix of the receiver ends the fallback")
    func backAgain() {
        var policy = policy(.whenUnavailable, accuracy: 10)
        give(fix(.wifi, 30), to: &policy, at: 31)

        give(fix(.gnss, 8), to: &policy, at: 40)

        #expect(policy.permitted(at: .seconds(41)) == Self.satellites)
        give(fix(.wifi, 30), to: &policy, at: 42, isTaken: false)
    }

    @Test("a need of kilometres goes to the network, and to a receiver only where there is no network")
    func kilometre() {
        var policy = policy(.whenUnavailable, accuracy: 1000)
        #expect(policy.permitted(at: .seconds(1000)) == Self.network)
        #expect(policy.nextLook(after: .zero) == .seconds(30))
        #expect(policy.problem(at: .seconds(30)) == .timedOut)

        policy.availabilityChanged(to: [.gnss, .timezone])
        #expect(policy.permitted(at: .zero) == Self.all)
        policy.availabilityChanged(to: [.gnss, .cell])

        #expect(policy.permitted(at: .zero) == Self.network)
    }

    @Test("a need of a hundred metres waits ten seconds for the network before a receiver helps, which then goes on")
    func hundredMetres() {
        var policy = policy(.whenUnavailable, accuracy: 100)
        give(fix(.wifi, 400), to: &policy, at: 2)
        #expect(policy.permitted(at: .milliseconds(9999)) == Self.network)
        #expect(policy.permitted(at: .seconds(10)) == Self.all)

        give(fix(.gnss, 8), to: &policy, at: 15)
        #expect(policy.permitted(at: .seconds(600)) == Self.all)
        give(fix(.wifi, 60), to: &policy, at: 601)

        #expect(policy.permitted(at: .seconds(601)) == Self.network)
        give(fix(.gnss, 8), to: &policy, at: 602, isTaken: false)
    }

    // MARK: after

    @Test("the network serves after the delay without a good fix, and not before")
    func after() {
        var policy = policy(.after(.seconds(5)), accuracy: 10)

        #expect(policy.nextLook(after: .zero) == .seconds(5))
        #expect(policy.permitted(at: .milliseconds(4999)) == Self.satellites)
        #expect(policy.permitted(at: .seconds(5)) == Self.all)
        #expect(policy.nextLook(after: .seconds(5)) == .seconds(35))
        give(fix(.gnss, 8), to: &policy, at: 6)
        #expect(policy.permitted(at: .seconds(7)) == Self.satellites)
    }

    @Test("a delay longer than the acquisition's time ends with that, and one without end waits")
    func longDelay() {
        #expect(policy(.after(.seconds(100)), accuracy: 10).permitted(at: .seconds(30)) == Self.all)
        let endless = policy(.after(.seconds(100)), accuracy: 10, timeout: nil)
        #expect(endless.permitted(at: .seconds(99)) == Self.satellites)
        #expect(endless.permitted(at: .seconds(100)) == Self.all)
        #expect(endless.problem(at: .seconds(10_000)) == nil)
    }

    @Test("no delay at all is everything at once")
    func noDelay() {
        #expect(policy(.after(.zero), accuracy: 10).permitted(at: .zero) == Self.all)
    }

    // MARK: Time

    @Test("nothing is timed while a person is being asked, nor after the end")
    func notBegun() {
        var policy = FallbackPolicy(.never, accuracy: 0, timeout: .seconds(30))
        policy.availabilityChanged(to: [])
        #expect(policy.problem(at: .seconds(100)) == nil && policy.nextLook(after: .zero) == nil)
        give(fix(.gnss), to: &policy, at: 100, isTaken: false)

        policy.restart(at: .seconds(100))
        #expect(policy.problem(at: .seconds(200)) == nil)
        policy.begin(at: .seconds(200))
        #expect(policy.problem(at: .seconds(200)) == .unavailable)
        policy.end()

        #expect(policy.problem(at: .seconds(300)) == nil)
    }

    @Test("after a sleep, and after a loss, the time starts again", arguments: [false, true])
    func restart(wasServed: Bool) {
        var policy = policy(.never)
        if wasServed { give(fix(.gnss), to: &policy, at: 10) }

        policy.restart(at: .seconds(1000))

        #expect(policy.problem(at: .seconds(1029)) == nil)
        #expect(policy.nextLook(after: .seconds(1000)) == .seconds(1030))
        #expect(policy.problem(at: .seconds(1030)) == .timedOut)
    }

    @Test("between two looks nothing changes by itself", arguments: 0..<200)
    func looks(seed: UInt64) {
        var random = SplitMix64(seed)
        let fallbacks: [FallbackPolicy.Fallback] = [.allow, .never, .whenUnavailable, .after(.seconds(7))]
        let fallback = fallbacks[Int(random.next() % 4)]
        let available = Set(Fix.Kind.allCases.filter { _ in random.next() % 2 == 0 })
        let policy = policy(
            fallback, accuracy: [0, 10, 100, 1000][Int(random.next() % 4)],
            timeout: random.next() % 4 == 0 ? nil : Double(random.next() % 40), available: available)

        var now = Duration.zero
        while now < .seconds(100) {
            let next = min(policy.nextLook(after: now) ?? .seconds(100), .seconds(100))
            let moment = now + (next - now) * 0.999
            #expect(policy.permitted(at: moment) == policy.permitted(at: now))
            #expect(policy.problem(at: moment) == policy.problem(at: now))
            now = next
        }
    }

    @Test("a level stands for its radius")
    func levels() {
        #expect(FallbackPolicy(.allow, level: .exact, timeout: nil).accuracy == 50)
        #expect(FallbackPolicy(.allow, level: .street, timeout: nil).accuracy == 1000)
        #expect(FallbackPolicy(.allow, level: .city, timeout: nil).accuracy == 15_000)
    }
}
