import EventLoop
import Geolocation
import LocationTestSupport
import LookupProtocol
import Positioning
import Testing

@testable import LocationSources

@Suite("Cases: places by lookup", .serialized, .timeLimit(.minutes(1))) struct LookupCases {
    init() { EventLoop.startThread() }

    /// A lookup service that is gone.
    enum Loss: CaseIterable { case refuses, hangs }

    // MARK: C01

    @Test(
        "with no source at all that is told, and nothing else; and the first place comes when one is back",
        arguments: Loss.allCases)
    @ServiceActor
    func nothing(loss: Loss) async throws {
        let machine = try await Machine()
        let chain = machine.chain(Machine.provider)
        let zone = FilePlaceSource.timeZone(link: "/nonexistent/localtime", clock: machine.clock)
        try await machine.start([zone, machine.wifi(chain), machine.ip(chain)], reaching: .city)
        machine.transport.answer = { [transport = machine.transport] _ in
            loss == .hangs ? await transport.hold() : .failed(reason: "connection refused")
        }

        let application = try await machine.service.startedApplication()
        #expect(await machine.seconds(upTo: 10) { application.levels == [0] } != nil)
        await machine.pass(60)
        #expect(try await application.availableLevel() == 0 && application.levels == [0])
        #expect(application.locations.isEmpty)
        #expect(machine.service.positioner.condition == .noSource)
        // What hangs is ended by the lookup process.
        machine.transport.answer = { Machine.knows($0) }
        if loss == .hangs { machine.transport.release(.failed(reason: "timeout")) }

        _ = try #require(await machine.seconds(upTo: 30, until: application, hasGot: 1))
        #expect(application.levels == [0, 4] && application.locations.first?.isAt(Machine.byAddress) == true)
    }

    // MARK: C02

    @Test(
        "a first provider that is gone is passed over, and asked at most three times a minute",
        arguments: [
            LookupOutcome.status(404, "<html>no such page</html>"), .error(403, "usageLimits", "dailyLimitExceeded"),
            .status(429), .failed(reason: "connection refused"),
        ])
    @ServiceActor
    func firstProviderIsGone(outcome: LookupOutcome) async throws {
        let machine = try await Machine()
        let wireless = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let wifi = machine.wifi(machine.chain(Machine.provider, Machine.secondProvider))
        try await machine.start([wifi], reaching: .street)
        var asked: [Duration] = []
        machine.transport.answer = { [clock = machine.clock] request in
            guard request.url == Machine.provider else { return Machine.knows(request) }
            asked.append(clock.now)
            return outcome
        }

        let application = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        // On the way, every ten seconds other access points are heard.
        for round in UInt64(1)...60 {
            wireless.surroundings = nil
            try wireless.scanned((1...4).map { FakeAccessPoint(address: 0x0011_22AA_0000 + round * 16 + $0) })
            await machine.pass(10)
        }

        #expect(application.locations.first?.isAt(Machine.home) == true && application.locations.first?.accuracy == 30)
        let second = machine.transport.hosts.count { $0 == "second.example" }
        #expect(second > 50)
        #expect((1...22).contains(asked.count))
        #expect(asked.allSatisfy { start in asked.count { $0 >= start && $0 < start + .seconds(60) } <= 3 })
    }

    @Test("where no provider knows access points any more, the place of the address is told as a city's")
    @ServiceActor
    func onlyAddressIsLeft() async throws {
        let machine = try await Machine()
        _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        let wifi = machine.wifi(machine.chain(Machine.provider, Machine.secondProvider))
        let ip = machine.ip(machine.chain("https://ip.example/v1/geolocate"))
        try await machine.start([wifi, ip], reaching: .street)
        machine.transport.answer = { request in
            request.url.contains("ip.example") ? Machine.knows(request) : .failed(reason: "connection refused")
        }

        let application = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        await machine.pass(60)
        await application.settle()

        try #require(application.locations.count == 1)
        #expect(application.locations[0].isAt(Machine.byAddress))
        #expect(application.locations[0].accuracy >= 10_000 && application.locations[0].description == "IP")
        #expect(application.levels == [4])
        #expect(Set(machine.transport.hosts) == ["first.example", "second.example", "ip.example"])
    }

    // MARK: C17

    @Test("without a receiver a client of level exact gets the place by Wi-Fi, with its radius as it is")
    @ServiceActor
    func exactWithoutReceiver() async throws {
        let machine = try await Machine()
        _ = try await machine.wpaSupplicant(hearing: Machine.homePoints)
        try await machine.start([machine.wifi(machine.chain(Machine.provider))], reaching: .street)

        let application = try await machine.service.startedApplication()

        _ = try #require(await machine.seconds(upTo: 10, until: application, hasGot: 1))
        let location = try #require(application.locations.first)
        #expect(location.isAt(Machine.home) && location.accuracy == 30 && location.description == "Wi-Fi")
    }

    // MARK: C27

    @Test("by cable alone clients of both levels get the town, however exact the provider calls it")
    @ServiceActor
    func cable() async throws {
        let machine = try await Machine()
        let chain = machine.chain(Machine.provider)
        try await machine.start([machine.wifi(chain), machine.cell(chain), machine.ip(chain)], reaching: .city)
        machine.transport.answer = { _ in .place(10.7, 20.3, accuracy: 1) }

        let coarse = try await machine.service.startedApplication(level: .city)
        _ = try #require(await machine.seconds(upTo: 10, until: coarse, hasGot: 1))
        let exact = try await machine.service.startedApplication()
        _ = try #require(await machine.seconds(upTo: 10, until: exact, hasGot: 1))

        #expect((coarse.locations + exact.locations).allSatisfy { $0.accuracy >= 10_000 })
        #expect(exact.locations.map(\.description) == ["IP"] && exact.locations.allSatisfy { $0.isAt((10.7, 20.3)) })
        #expect(try await exact.availableLevel() == 4)
        // Both by one answer.
        #expect(machine.transport.requests.count == 1)
    }
}
