import DBus
import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite("Cases: modems, radio and power", .serialized, .timeLimit(.minutes(1))) struct PowerCases {
    init() { EventLoop.startThread() }

    /// A ModemManager that has a modem before the service looks.
    @ServiceActor
    private static func modem(
        of machine: Machine, capabilities: UInt32 = 23, enabled: UInt32, state: Int32 = 8
    ) async throws -> (FakeModemManager, FakeModem) {
        let manager = FakeModemManager(try machine.bus.connect())
        try await manager.start()
        return (manager, manager.plug(capabilities: capabilities, enabled: enabled, state: state))
    }

    // MARK: C24

    @Test(
        "a modem that may not be used is asked once a minute and missed by nobody; one that may is used as it is found")
    @ServiceActor
    func refused() async throws {
        let machine = try await Machine()
        _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        // Neither enabled nor with a SIM.
        let (manager, modem) = try await Self.modem(of: machine, enabled: 0, state: 3)
        modem.setupBehaviour.refusal = FakeModem.unauthorized
        let receiver = ModemGNSSSource(directory: machine.modems, clock: machine.clock)
        try await machine.start([receiver, machine.wifi(machine.chain(Machine.provider))], reaching: .exact)

        let application = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        #expect(application.locations.first?.isAt(Machine.home) == true)
        await machine.pass(300)
        #expect(try await application.availableLevel() == AccuracyLevel.street.rawValue)
        #expect((2...6).contains(modem.setups.count))

        modem.setupBehaviour.refusal = nil
        #expect(await machine.seconds(upTo: 60) { modem.enabled == 4 } != nil)
        #expect(try await application.availableLevel() == AccuracyLevel.exact.rawValue)
        modem.tell(nmea: gga("120600"), rmc("120600"))
        func hasReceiver() async -> Bool {
            await application.settle()
            return application.locations.last?.description == "GNSS"
        }
        _ = try #require(await machine.seconds(upTo: 5, until: hasReceiver))

        manager.unplug(modem)
        await machine.pass(5)
        #expect(try await application.availableLevel() == AccuracyLevel.street.rawValue)
        let other = manager.plug(capabilities: 23, enabled: 0, state: 3)
        #expect(await machine.seconds(upTo: 5) { other.enabled == 4 && other.reads > 0 } != nil)
        #expect(modem.misuse == 0 && other.misuse == 0)
    }

    // MARK: C30

    @Test("the receiver is switched on once and off once, whoever comes and goes, and what others have on stays on")
    @ServiceActor
    func notToggled() async throws {
        let machine = try await Machine()
        // The cell, and a receiver that somebody else reads.
        let (_, modem) = try await Self.modem(of: machine, enabled: 17)
        try await machine.start(
            [ModemGNSSSource(directory: machine.modems, clock: machine.clock)], reaching: .exact)
        var random = SplitMix64(30)
        let longest = try await machine.service.startedApplication()
        let others = [try await machine.service.startedApplication(), try await machine.service.startedApplication()]
        var isRunning = [true, true]

        for _ in 0..<100 {
            let index = Int.random(in: 0...1, using: &random)
            if isRunning[index] { try await others[index].stop() } else { try await others[index].start() }
            isRunning[index].toggle()
            await machine.pass(Int.random(in: 1...11, using: &random))
        }
        for other in others { try await other.stop() }
        await machine.pass(60)
        #expect(modem.setups.map(\.sources) == [21])
        try await longest.stop()
        await machine.pass(20)

        #expect(modem.setups.map(\.sources) == [21, 17] && modem.enabled == 17)
        #expect(modem.setups.allSatisfy { !$0.signals } && modem.misuse == 0)
    }

    // MARK: C25

    @Test("a city client and no client cost no scan and no timer, and what others scan is used")
    @ServiceActor
    func cityClient() async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        // Without an address to go by, Wi-Fi is all that there is.
        try await machine.start([machine.wifi(machine.chain(Machine.provider))], reaching: .street)
        let application = try await machine.service.startedApplication(level: .city, time: 3600)

        await machine.pass(900)
        #expect(application.locations.isEmpty)
        try wireless.scanned(Machine.homePoints)
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        #expect(try #require(application.locations.first).accuracy >= 10_000)
        await machine.pass(900)
        try await application.stop()
        await machine.pass(1)
        let (timers, readings) = (machine.clock.timersSet, wireless.listReadings)
        try wireless.scanned(Machine.homePoints)
        // Not in steps: the calls of those set timers.
        await machine.clock.advance(by: .seconds(1800))

        #expect(wireless.scanRequests == 0)
        #expect(machine.clock.timersSet == timers && wireless.listReadings == readings)
    }

    @Test("where the address serves, a city client does not even have the list of Wi-Fi read")
    @ServiceActor
    func cityClientWithAddress() async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let chain = machine.chain(Machine.provider)
        try await machine.start([machine.wifi(chain), machine.ip(chain)], reaching: .street)
        let application = try await machine.service.startedApplication(level: .city, time: 3600)

        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        try wireless.scanned(Machine.homePoints)
        await machine.pass(1800)

        #expect(wireless.scanRequests == 0 && wireless.listReadings == 0 && machine.transport.requests.count == 1)
    }

    @Test("a client that wants a place once an hour costs a scan in ten minutes at most")
    @ServiceActor
    func hourly() async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        try await machine.start([machine.wifi(machine.chain(Machine.provider))], reaching: .street)
        let application = try await machine.service.startedApplication(time: 3600)
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        var scans: [Int] = []

        for _ in 0..<180 {
            scans.append(wireless.scanRequests)
            await machine.pass(10)
        }

        #expect(zip(scans, scans.dropFirst(60)).allSatisfy { $1 - $0 <= 1 })
        #expect((2...4).contains(wireless.scanRequests))
    }
}
