import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// The source between modems and a lookup that do as the test says.
@ServiceActor
final class ModemCellBench {
    static nonisolated let oneCell = "262,02,FFFE,1A2B3C,3E8"
    static nonisolated let anotherCell = "262,02,FFFE,1A2B3D,3E8"

    let modems: ModemBench
    let lookup = ScriptedLookup()
    let source: CellSource
    let reports: Reports

    init(usesTowers: Bool = true, usesBaseStations: Bool = true) async throws {
        modems = try await ModemBench()
        source = CellSource(
            directory: modems.directory, lookup: usesTowers ? lookup : nil, usesBaseStations: usesBaseStations,
            clock: modems.clock)
        reports = Reports(of: source)
        lookup.answer = { [clock] _ in .found(.somewhere(at: clock.now)) }
        source.discover()
    }

    var clock: ManualClock { modems.clock }

    /// A modem in the first cell, as ModemManager has them: cells are told without being asked for.
    func plug(capabilities: UInt32 = 7, enabled: UInt32 = 1) async -> FakeModem {
        let modem = modems.manager.plug(capabilities: capabilities, enabled: enabled)
        modem.tell(cell: Self.oneCell)
        await until { self.modems.directory.modems.contains { $0.path == modem.path } }
        return modem
    }

    func run() { source.run(for: Demand(level: .city, minimumInterval: 0)) }

    /// Lets the source look once more, in steps that leave its calls the time to be answered.
    func lookAgain(_ modem: FakeModem) async throws {
        try await modems.settle()
        let reads = modem.reads
        for _ in 0..<6 {
            await clock.advance(by: .seconds(5))
            try await modems.settle()
        }
        #expect(modem.reads > reads)
    }

    var fixes: [Fix] { reports.all.compactMap(\.fix) }
}

extension FoundPlace {
    static func somewhere(at moment: Duration, isByAddress: Bool = false) -> FoundPlace {
        FoundPlace(
            coordinate: Coordinate(latitude: 52.5, longitude: 13.4)!, accuracy: 1400, measuredAt: moment,
            isByAddress: isByAddress, provider: "test")
    }
}
