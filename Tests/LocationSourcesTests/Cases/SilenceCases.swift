import DBus
import DBusTestSupport
import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

/// No request leaves and no scan is started where nobody needs it: ten minutes in each case.
@Suite("Network silence", .serialized, .timeLimit(.minutes(1))) struct SilenceCases {
    init() { EventLoop.startThread() }

    /// A machine with everything that asks others: Wi-Fi, a modem in a cell, and an address.
    @ServiceActor
    private final class Bench {
        let machine: Machine
        let wireless: FakeWireless
        let modem: FakeModem
        private let manager: FakeModemManager
        private let chain: ProviderChain
        private var told = (requests: 0, scans: 0)

        init() async throws {
            machine = try await Machine()
            wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
            manager = FakeModemManager(try machine.bus.connect())
            try await manager.start()
            modem = manager.plug(enabled: 1)
            modem.tell(cell: "262,02,FFFE,01A2B3C,00C0DE")
            chain = machine.chain(Machine.provider)
        }

        /// Starts with what knows places by itself before the others, as the daemon does.
        func start(_ local: [any LocationSource] = [], reaching level: AccuracyLevel = .street) async throws {
            try await machine.start(
                local + [machine.cell(chain), machine.wifi(chain), machine.ip(chain)], reaching: level)
            await until { self.machine.modems.modems.count == 1 }
            await machine.settle()
        }

        /// What has been asked of others so far does not count.
        func forgive() { told = (machine.transport.requests.count, wireless.scanRequests) }

        var isSilent: Bool {
            machine.transport.requests.count == told.requests && wireless.scanRequests == told.scans
        }

        /// Whether the silence is not that of a machine without a voice.
        func canSpeak() async throws -> Bool {
            _ = try await machine.service.startedApplication()
            return await machine.seconds(upTo: 60) { !self.isSilent } != nil
        }
    }

    @Test("without a client nothing is asked, scanned, read or switched on, whatever happens around")
    @ServiceActor
    func noClient() async throws {
        let bench = try await Bench()
        try await bench.start()

        for _ in 0..<10 {
            try bench.wireless.scanned(Machine.homePoints)
            bench.modem.giveSign()
            await bench.machine.pass(60)
        }

        #expect(bench.isSilent && bench.wireless.listReadings == 0)
        #expect(bench.modem.setups.isEmpty && bench.modem.reads == 0)
        #expect(try await bench.canSpeak())
    }

    @Test("from a receiver's first fix on nothing is asked or scanned, for clients of whatever level")
    @ServiceActor
    func receiver() async throws {
        let bench = try await Bench()
        let server = try LoopbackServer()
        let receiver = NMEASocketSource(address: server.address, clock: bench.machine.clock)
        try await bench.start([receiver], reaching: .exact)
        let application = try await bench.machine.service.startedApplication()
        let peer = try await server.nextPeer()
        /// The clock of the machine as a receiver writes it.
        func drive(_ seconds: Int) async {
            for _ in 0..<seconds {
                let second = Int(bench.machine.clock.wallTime / 1_000_000 % 86_400)
                let time = String(1_000_000 + second / 3600 * 10000 + second / 60 % 60 * 100 + second % 60).dropFirst()
                peer.send(gga(String(time)) + rmc(String(time)))
                await bench.machine.pass(1)
            }
        }

        await drive(5)
        await application.settle()
        #expect(application.locations.last?.description == "GNSS")
        bench.forgive()
        await drive(300)
        let coarse = try await bench.machine.service.startedApplication(level: .city)
        let second = try await bench.machine.service.startedApplication()
        await drive(300)
        for application in [coarse, second] { await application.settle() }

        #expect(bench.isSilent)
        #expect(!coarse.locations.isEmpty && second.locations.count > 290)
        // With the receiver gone, others are asked again.
        peer.close()
        #expect(await bench.machine.seconds(upTo: 60) { !bench.isSilent } != nil)
    }

    @Test(
        "where a place is set nothing is ever asked or scanned, for clients of whatever level",
        arguments: [AccuracyLevel.city, .street, .exact])
    @ServiceActor
    func setPlace(level: AccuracyLevel) async throws {
        let bench = try await Bench()
        let folder = TestFolder.unused("place")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "geolocation")
        try Data("10.5\n20.5\n0\n30\n".utf8).write(to: file)
        let place = FilePlaceSource.fixed(file.path, clock: bench.machine.clock)
        try await bench.start([place], reaching: .exact)

        let application = try await bench.machine.service.startedApplication(level: level)
        await bench.machine.pass(600)
        await application.settle()

        #expect(bench.isSilent && application.locations.count == 1)
        try FileManager.default.removeItem(at: file)
        await until { place.availableLevel == .none }
        #expect(try await bench.canSpeak())
    }

    @Test("a client that the time zone serves has nobody asked")
    @ServiceActor
    func timeZone() async throws {
        let bench = try await Bench()
        let folder = TestFolder.unused("zone")
        let database = folder.appending(path: "zoneinfo")
        try FileManager.default.createDirectory(at: database, withIntermediateDirectories: true)
        try Data("DE\t+5230+01322\tEurope/Berlin\n".utf8).write(to: database.appending(path: "zone1970.tab"))
        let link = folder.appending(path: "localtime").path
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "../usr/share/zoneinfo/Europe/Berlin")
        let zone = FilePlaceSource.timeZone(link: link, database: database.path, clock: bench.machine.clock)
        try await bench.start([zone])

        let application = try await bench.machine.service.startedApplication(level: .country)
        await bench.machine.pass(600)
        await application.settle()

        #expect(bench.isSilent && application.locations.count == 1)
        #expect(try await bench.canSpeak())
    }

    @Test("a city client has the address asked about once, and not again")
    @ServiceActor
    func address() async throws {
        let bench = try await Bench()
        try await bench.start()
        let application = try await bench.machine.service.startedApplication(level: .city)
        _ = try #require(await bench.machine.seconds(upTo: 10, until: application, hasGot: 1))
        #expect(bench.machine.transport.requests.count == 1 && bench.wireless.scanRequests == 0)
        bench.forgive()

        await bench.machine.pass(300)
        try await application.stop()
        try await application.start(level: .city)
        await bench.machine.pass(300)

        #expect(bench.isSilent)
    }
}
