import Geolocation
import Positioning
import Testing

@Suite("Selection of sources")
struct SourceSelectionTests {
    /// A machine's sources by name, and which of them run for a level.
    struct Situation: Sendable, CustomTestStringConvertible {
        let name: String
        let sources: [Source]
        let level: AccuracyLevel
        let selected: Set<Source>

        var testDescription: String { name }

        init(_ name: String, _ sources: [Source], _ level: AccuracyLevel, _ selected: Set<Source>) {
            self.name = name
            self.sources = sources
            self.level = level
            self.selected = selected
        }
    }

    enum Source: Sendable {
        case nmea, modem, wifi, cell, ip, timezone, fixed
        /// A receiver that is not plugged in, and one that was pulled while it ran.
        case absentReceiver, pulledReceiver
        /// One that nobody would tell of, gpsd's.
        case unseenReceiver

        var candidate: SourceSelection.Candidate {
            switch self {
            case .nmea, .modem: SourceSelection.Candidate(kind: .gnss, availableLevel: .exact)
            case .wifi: SourceSelection.Candidate(kind: .wifi, availableLevel: .street)
            case .cell: SourceSelection.Candidate(kind: .cell, availableLevel: .neighborhood)
            case .ip: SourceSelection.Candidate(kind: .ip, availableLevel: .city)
            case .timezone: SourceSelection.Candidate(kind: .timezone, availableLevel: .country)
            case .fixed: SourceSelection.Candidate(kind: .fixed, availableLevel: .exact)
            case .absentReceiver: SourceSelection.Candidate(kind: .gnss, availableLevel: .none)
            case .pulledReceiver: SourceSelection.Candidate(kind: .gnss, availableLevel: .none, isRunning: true)
            case .unseenReceiver:
                SourceSelection.Candidate(kind: .gnss, availableLevel: .none, looksOnlyWhileRunning: true)
            }
        }
    }

    @Test(
        "what runs for a need",
        arguments: [
            Situation(
                "for exact positions everything runs that can", [.nmea, .modem, .wifi, .cell, .ip, .timezone], .exact,
                [.nmea, .modem, .wifi, .cell, .ip, .timezone]),
            Situation("nothing runs for nobody", [.nmea, .ip, .fixed], .none, []),
            Situation(
                "a city needs neither a receiver nor a scan where an address serves", [.nmea, .wifi, .cell, .ip], .city,
                [.ip]),
            Situation("a city on a machine with only a receiver powers it", [.nmea], .city, [.nmea]),
            Situation("a country on a machine with only a receiver powers it", [.nmea], .country, [.nmea]),
            Situation(
                "something finer that is no receiver comes before the receiver", [.nmea, .wifi], .city, [.wifi]),
            Situation("of finer sources the coarsest helps", [.nmea, .wifi, .cell], .city, [.cell]),
            Situation(
                "a street is served by Wi-Fi, with what is coarser", [.nmea, .wifi, .cell, .ip], .street,
                [.wifi, .cell, .ip]),
            Situation("an address does not meet the need of a street", [.nmea, .ip], .street, [.nmea, .ip]),
            Situation(
                "a time zone of a country does not meet the need of a city", [.nmea, .timezone], .city,
                [.nmea, .timezone]),
            Situation("a time zone meets the need of a country", [.nmea, .ip, .timezone], .country, [.timezone]),
            Situation(
                "a set place meets any need and costs nothing", [.nmea, .wifi, .ip, .fixed], .city,
                [.ip, .fixed]),
            Situation("a set place keeps a receiver off for a street", [.nmea, .fixed], .street, [.fixed]),
            Situation("what cannot run does not", [.absentReceiver, .ip], .exact, [.ip]),
            Situation("what cannot run serves nobody", [.absentReceiver, .nmea], .city, [.nmea]),
            Situation(
                "a pulled receiver waits for its return while it is wanted", [.pulledReceiver, .ip], .exact,
                [.pulledReceiver, .ip]),
            Situation("a pulled receiver is not wanted where an address serves", [.pulledReceiver, .ip], .city, [.ip]),
            Situation("a pulled receiver waits where nothing serves", [.pulledReceiver], .city, [.pulledReceiver]),
            Situation(
                "what sees its hardware only while it runs looks for it for exact positions", [.unseenReceiver, .ip],
                .exact, [.unseenReceiver, .ip]),
            Situation("nor is it looked for where an address serves", [.unseenReceiver, .ip], .city, [.ip]),
            Situation("without any source nothing runs", [], .exact, []),
        ])
    func selection(_ situation: Situation) {
        let selected = SourceSelection.select(for: situation.level, among: situation.sources.map(\.candidate))

        #expect(Set(zip(situation.sources, selected).filter { $1 }.map { $0.0 }) == situation.selected)
    }
}

@Suite("Kinds of sources that a demand may have")
struct DemandKindsTests {
    private func selected(_ level: AccuracyLevel, _ kinds: Set<Fix.Kind>?) -> [Bool] {
        let sources: [SourceSelectionTests.Source] = [.ip, .nmea, .fixed, .wifi, .timezone]
        return SourceSelection.select(
            for: Demand(level: level, minimumInterval: 0, kinds: kinds), among: sources.map(\.candidate))
    }

    @Test("others do not run, and those that may are chosen from as if there were no others")
    func kinds() {
        #expect(selected(.exact, [.gnss, .fixed]) == [false, true, true, false, false])
        #expect(selected(.city, [.gnss]) == [false, true, false, false, false])
        #expect(selected(.city, nil) == [true, false, true, false, true])
        #expect(selected(.exact, []) == [false, false, false, false, false])
        #expect(SourceSelection.select(for: Demand?.none, among: [SourceSelectionTests.Source.ip.candidate]) == [false])
    }

    @Test("together, clients may have what any of them may have")
    func union() {
        var demand = Demand(level: .exact, minimumInterval: 0, kinds: [.gnss])

        demand.formUnion(Demand(level: .city, minimumInterval: 10, kinds: [.ip]))
        #expect(demand == Demand(level: .exact, minimumInterval: 0, kinds: [.gnss, .ip]))
        demand.formUnion(Demand(level: .city, minimumInterval: 10))
        #expect(demand.kinds == nil)
        demand.formUnion(Demand(level: .city, minimumInterval: 10, kinds: [.ip]))

        #expect(demand.kinds == nil)
    }
}
