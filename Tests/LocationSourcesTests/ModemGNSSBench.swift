import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// The source over modems that do as the test says.
@ServiceActor
final class ModemGNSSBench {
    let modems: ModemBench
    let source: ModemGNSSSource
    let reports: Reports

    init() async throws {
        modems = try await ModemBench()
        source = ModemGNSSSource(directory: modems.directory, clock: modems.clock)
        reports = Reports(of: source)
        source.discover()
    }

    var clock: ManualClock { modems.clock }

    func plug(capabilities: UInt32 = 7, enabled: UInt32 = 1, state: Int32 = 8) async -> FakeModem {
        let modem = modems.manager.plug(capabilities: capabilities, enabled: enabled, state: state)
        await until { self.modems.directory.modems.contains { $0.path == modem.path } }
        return modem
    }

    /// Lets the source read once more, and take in what it has read.
    func readAgain(_ modem: FakeModem) async throws {
        try await modems.settle()
        let reads = modem.reads
        await clock.advance(by: .seconds(1))
        try await modems.settle()
        #expect(modem.reads == reads + 1)
    }

    var fixes: [Fix] { reports.all.compactMap(\.fix) }
}
