import Geolocation
import LocationSources
import Positioning
import Testing

@Suite struct WiFiScanPolicyTests {
    private let here: Set<UInt64> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    private let elsewhere: Set<UInt64> = [11, 12, 13]

    private func demand(_ level: AccuracyLevel = .exact, every seconds: UInt32 = 0) -> Demand {
        Demand(level: level, minimumInterval: seconds)
    }

    /// Asks for each scan as it is due, which then hears `sets` in turn.
    private func intervals(_ sets: [Set<UInt64>], _ policy: inout ScanPolicy, from start: Int64 = 1000) -> [Duration] {
        var now = Duration.seconds(start)
        _ = policy.heard(sets[0], at: now)
        return sets.dropFirst().map { set in
            let next = policy.nextScan(for: demand())!
            defer { now = next }
            policy.requested(at: next)
            _ = policy.heard(set, at: next)
            return next - now
        }
    }

    @Test("without any scan there is one at once, and a scan of the last ten seconds serves whoever asked for it")
    func reuse() {
        var policy = ScanPolicy()

        #expect(policy.nextScan(for: demand()) == .zero)
        _ = policy.heard(here, at: .seconds(995))
        #expect(policy.nextScan(for: demand()) == .seconds(1005))
        _ = policy.heard(elsewhere, at: .seconds(1004))
        #expect(policy.nextScan(for: demand()) == .seconds(1014))
    }

    @Test("while nothing changes the interval doubles from ten seconds to a minute, and then becomes five minutes")
    func stillness() {
        var policy = ScanPolicy()

        let found = intervals(Array(repeating: here, count: 8), &policy)

        #expect(found == [10, 20, 40, 60, 300, 300, 300].map { .seconds($0) })
    }

    @Test("another place brings the shortest interval back, and so does a found place that has moved")
    func movement() {
        var policy = ScanPolicy()
        _ = intervals(Array(repeating: here, count: 6), &policy)

        #expect(!policy.isMoving)
        let found = intervals([here, elsewhere, here, elsewhere], &policy, from: 5000)
        #expect(found.dropFirst() == [.seconds(10), .seconds(10)])
        #expect(policy.isMoving)
        _ = intervals(Array(repeating: elsewhere, count: 6), &policy, from: 9000)
        #expect(!policy.isMoving)
        policy.moved()
        #expect(policy.isMoving && policy.nextScan(for: demand())! - .seconds(10) < .seconds(9900))
    }

    @Test("a set counts as another one below seven tenths in common, measured from the last change on")
    func similarity() {
        var policy = ScanPolicy()

        let changes = [here, [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7], [], []].enumerated().map
        {
            policy.heard($1, at: .seconds(1000 + $0))
        }

        #expect(changes == [true, false, true, false, true, false])
    }

    @Test("the same scan read twice is one scan")
    func sameScan() {
        var policy = ScanPolicy()
        _ = policy.heard(here, at: .seconds(1000))

        for _ in 0..<5 { _ = policy.heard(here, at: .seconds(1000)) }

        #expect(policy.nextScan(for: demand()) == .seconds(1010))
    }

    @Test("scans that others make in quick succession do not make the interval longer")
    func foreignScans() {
        var policy = ScanPolicy()

        for second in 1000...1009 { _ = policy.heard(here, at: .seconds(second)) }
        #expect(policy.nextScan(for: demand()) == .seconds(1019))
        for second in 1010...1029 { _ = policy.heard(here, at: .seconds(second)) }

        #expect(policy.nextScan(for: demand()) == .seconds(1049))
    }

    @Test("scans that never come are asked for less and less often")
    func inVain() {
        var policy = ScanPolicy()
        var now = Duration.seconds(1000)

        let waits: [Duration] = (0..<6).map { _ in
            policy.requested(at: now)
            let next = policy.nextScan(for: demand())!
            defer { now = next }
            return next - now
        }

        #expect(waits == [10, 20, 40, 60, 300, 300].map { .seconds($0) })
        policy.restart()
        #expect(policy.nextScan(for: demand())! < now)
    }

    @Test(
        "who needs no more than the city never causes a scan", arguments: [.none, .country, .city] as [AccuracyLevel])
    func coarse(level: AccuracyLevel) {
        #expect(ScanPolicy().nextScan(for: demand(level)) == nil)
    }

    @Test("who needs more does", arguments: [.neighborhood, .street, .exact] as [AccuracyLevel])
    func fine(level: AccuracyLevel) {
        #expect(ScanPolicy().nextScan(for: demand(level)) == .zero)
    }

    @Test("who wants updates seldom causes scans seldom, and an hour's interval one in ten minutes at most")
    func seldom() {
        var policy = ScanPolicy()
        policy.requested(at: .seconds(1000))
        _ = policy.heard(here, at: .seconds(1003))

        #expect(policy.nextScan(for: demand(every: 5)) == .seconds(1013))
        #expect(policy.nextScan(for: demand(every: 45)) == .seconds(1045))
        #expect(policy.nextScan(for: demand(every: 3600)) == .seconds(1600))
        #expect(policy.nextScan(for: demand(every: .max)) == .seconds(1600))
        _ = policy.heard(here, at: .seconds(1595))
        #expect(policy.nextScan(for: demand(every: 3600)) == .seconds(1615))
    }
}
