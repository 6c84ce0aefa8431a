import EventLoop
import Geolocation
import LocationTestSupport
import Positioning

@testable import LocationSources

/// The source between a scanner and a lookup that do as the test says.
@ServiceActor
final class WiFiSourceBench {
    static nonisolated let here: ClosedRange<UInt64> = 1...5
    static nonisolated let there: ClosedRange<UInt64> = 11...15

    let clock = ManualClock()
    let scanner: ScriptedScanner
    let lookup = ScriptedLookup()
    let source: WiFiSource
    let reports: Reports
    /// Whether the machine moves, or a receiver knows where it is: as the test has it.
    var isSo = false

    init(hasAdapter: Bool = true) {
        scanner = ScriptedScanner(hasAdapter: hasAdapter, clock: clock)
        source = WiFiSource(scanners: [scanner], lookup: lookup, clock: clock)
        reports = Reports(of: source)
        lookup.answer = { [clock] _ in .found(WiFiSourceBench.place(at: clock.now)) }
        source.discover()
    }

    static func place(
        _ latitude: Double = 52.52, _ longitude: Double = 13.405, accuracy: Double = 30, isByAddress: Bool = false,
        at moment: Duration
    ) -> FoundPlace {
        FoundPlace(
            coordinate: Coordinate(latitude: latitude, longitude: longitude)!, accuracy: accuracy,
            measuredAt: moment, isByAddress: isByAddress, provider: "example.org")
    }

    /// Runs for a demand; what was heard so far is read.
    func run(_ level: AccuracyLevel = .exact, every seconds: UInt32 = 0) async {
        source.run(for: Demand(level: level, minimumInterval: seconds))
        await clock.settle()
    }

    func hear(_ addresses: some Sequence<UInt64>, name: String = "home", age: Duration = .zero) async {
        scanner.hear(addresses, name: name, age: age)
        await clock.settle()
    }

    /// Answers requests for scans with what is heard at that time.
    func scan(_ addresses: @escaping @ServiceActor () -> ClosedRange<UInt64>) {
        scanner.onRequest = { [weak scanner] in scanner?.hear(addresses()) }
    }

    var fixes: [Fix] { reports.all.compactMap { if case .fix(let fix) = $0 { fix } else { nil } } }
    var queries: Int { lookup.queries.count }
}
