import DBus
import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite struct NetworkServiceTests {
    private func service(_ host: String = "192.0.2.7", port: UInt16 = 10110, _ txt: String...) -> NetworkService? {
        NetworkService(name: "boat", host: host, port: port, txt: txt.map { Array($0.utf8) })
    }

    @Test("what it says of its accuracy decides what is believed of it, and nothing finer than fifty metres is")
    func accuracy() {
        #expect(service("192.0.2.7", "accuracy=street")?.level == .street)
        #expect(service("192.0.2.7", "accuracy=street")?.accuracyFloor == 1000)
        #expect(service("192.0.2.7", "version=1", "accuracy=city")?.level == .city)
        #expect(service("192.0.2.7", "accuracy=superb")?.level == .exact)
        #expect(service()?.level == .exact)
        #expect(service()?.accuracyFloor == 50)
        #expect(service("192.0.2.7", "accuracy=none") == nil)
    }

    @Test("an address that leads nowhere is none", arguments: ["fe80::1", "FE80::1", "boat.local", "", "/run/socket"])
    func nowhere(host: String) {
        #expect(service(host) == nil)
    }

    @Test("both kinds of addresses are taken, and a port is needed")
    func addresses() {
        #expect(service("2001:db8::7")?.address == .tcp(host: "2001:db8::7", port: 10110))
        #expect(service()?.address == .tcp(host: "192.0.2.7", port: 10110))
        #expect(service(port: 0) == nil)
    }

    private func board(_ services: (String, String)...) -> ServiceBoard {
        var board = ServiceBoard()
        for (name, accuracy) in services {
            let txt = [Array("accuracy=\(accuracy)".utf8)]
            if let service = NetworkService(name: name, host: "192.0.2.7", port: 1, txt: txt) { board.add(service) }
        }
        return board
    }

    @Test("the finest is listened to, of equal ones the one known longest, and one that failed after the others")
    func choice() {
        var board = board(("a", "street"), ("b", "exact"), ("c", "exact"))
        func fail(_ name: String) { board.services.first { $0.name == name }.map { board.fail($0) } }

        #expect(board.choice?.name == "b")
        fail("b")
        #expect(board.choice?.name == "c")
        fail("c")
        fail("a")
        #expect(board.choice == nil)
        #expect(board.level == .exact)
        board.forgive()
        #expect(board.choice?.name == "b")
    }

    @Test("no more than sixteen are kept, whatever a network is full of")
    func bounded() {
        var board = ServiceBoard()
        for number in 0..<1000 {
            if let service = NetworkService(name: "\(number)", host: "192.0.2.7", port: 1, txt: []) {
                board.add(service)
            }
        }

        #expect(board.services.count == ServiceBoard.mostServices)
    }

    @Test("more bytes a second than any receiver sends are too many, and the next second counts anew")
    func flow() {
        var flow = FlowLimit()

        let first = flow.take(FlowLimit.bytesPerSecond, at: .seconds(5))
        let more = flow.take(1, at: .milliseconds(5900))
        let next = flow.take(1000, at: .seconds(6))

        #expect(first && !more && next)
    }
}

@Suite(.timeLimit(.minutes(1))) struct NetworkNMEASourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let bus: PrivateBus
        let avahi: FakeAvahi
        let server: LoopbackServer
        let source: NetworkNMEASource
        let reports: Reports

        /// A service named `boat`, and a source that knows of it.
        init(_ txt: String...) async throws {
            bus = try await PrivateBus()
            avahi = try await FakeAvahi(bus.connect())
            server = try LoopbackServer.tcp()
            source = NetworkNMEASource(connection: try bus.connect(), clock: clock)
            reports = Reports(of: source)
            try avahi.add(.init(name: "boat", port: port, txt: txt))
            source.discover()
            await until { self.source.availableLevel > .none }
        }

        var standingComplaints: [String: Bool] {
            Dictionary(uniqueKeysWithValues: source.complaints.map { ($0.key.name, $0.value.isStanding) })
        }

        var port: UInt16 { if case .tcp(_, let port) = server.address { port } else { 0 } }

        func nextFix() async throws -> Fix {
            while true {
                if case .fix(let fix) = try await reports.next() { return fix }
            }
        }
    }

    @Test("a service is known as it is announced, and connected to only when somebody wants to know")
    @ServiceActor
    func onDemand() async throws {
        let bench = try await Bench()

        #expect(bench.avahi.browsed == ["_nmea-0183._tcp"])
        #expect(bench.source.availableLevel == .exact)
        #expect(bench.server.accepted == 0 && bench.clock.pendingTimers == 0)
        bench.source.run(for: .exact)
        _ = try await bench.server.nextPeer()

        #expect(bench.reports.all == [.availabilityChanged])
    }

    @Test("its fixes are foreign, and never as good as they say")
    @ServiceActor
    func foreign() async throws {
        let bench = try await Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()

        peer.send(gga("120000", hdop: "0.5") + gga("120001", hdop: "0.5"))
        let fix = try await bench.nextFix()

        #expect(fix.isForeign && fix.horizontalAccuracy == 50)
        #expect(fix.source == "network-nmea:127.0.0.1:\(bench.port)")
    }

    @Test("what the service says of its accuracy is the level that can be had, and the least radius")
    @ServiceActor
    func level() async throws {
        let bench = try await Bench("accuracy=street")
        #expect(bench.source.availableLevel == .street)
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()

        peer.send(gga("120000") + gga("120001"))

        #expect(try await bench.nextFix().horizontalAccuracy == 1000)
    }

    @Test("one that is heard over both protocols has an address of each, and one that leads nowhere takes none away")
    @ServiceActor
    func bothProtocols() async throws {
        let bench = try await Bench()
        let bystander = try bench.bus.connect()

        try bench.avahi.replace(.init(name: "boat", address6: "fe80::1", port: bench.port))
        await until { bench.avahi.wanted.count == 3 }
        for _ in 0..<20 { try await bystander.settle() }

        #expect(bench.avahi.wanted == [0, 0, 1])
        #expect(bench.source.availableLevel == .exact && bench.reports.all == [.availabilityChanged])
    }

    @Test("of several addresses of one service the one that works is kept to, whichever was known first")
    @ServiceActor
    func severalAddresses() async throws {
        for (first, second) in [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")] {
            let bench = try await Bench()
            try bench.avahi.remove("boat")
            await until { bench.source.availableLevel == .none }
            try bench.avahi.add(.init(name: "boat", address: first, address6: second, port: bench.port))
            let bystander = try bench.bus.connect()
            await until { bench.avahi.wanted.count == 3 }
            for _ in 0..<20 { try await bystander.settle() }

            bench.source.run(for: .exact)
            let peer = try await bench.server.nextPeer()
            peer.send(gga("120000") + gga("120001"))

            #expect(try await bench.nextFix().source == "network-nmea:127.0.0.1:\(bench.port)")
        }
    }

    @Test("of the addresses of a service some are kept, and none outlives it")
    func addressesOfOne() throws {
        var board = ServiceBoard()
        board.add(try #require(NetworkService(name: "quay", host: "192.0.2.7", port: 1, txt: [])))
        let services = try (1...6).map { number in
            try #require(NetworkService(name: "boat", host: "192.0.2.\(number)", port: 1, txt: []))
        }
        for service in services { board.add(service) }
        board.add(services[5])

        #expect(board.services.filter { $0.name == "boat" } == services.suffix(4))
        #expect(board.hasAlternative(to: services[5]))
        board.remove("boat")
        #expect(board.services.map { $0.name } == ["quay"])
    }

    @Test("what has failed is forgotten with what was announced, however often that changes")
    func failuresEnd() throws {
        var (board, fresh) = (ServiceBoard(), ServiceBoard())
        for number in 1...6 {
            let service = try #require(NetworkService(name: "boat", host: "192.0.2.\(number)", port: 1, txt: []))
            board.add(service)
            if number < 3 { board.fail(service) }
            fresh.add(service)
        }

        #expect(board == fresh)
    }

    @Test("one that no longer has anything to give is gone")
    @ServiceActor
    func nothingToGive() async throws {
        let bench = try await Bench()

        try bench.avahi.replace(.init(name: "boat", port: bench.port, txt: ["accuracy=none"]))
        await until { bench.source.availableLevel == .none }

        #expect(bench.reports.all == [.availabilityChanged, .availabilityChanged])
    }

    @Test("a service that goes is lost with its position, and so is all when Avahi goes")
    @ServiceActor
    func gone() async throws {
        let bench = try await Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()
        peer.send(gga("120000") + gga("120001"))
        _ = try await bench.nextFix()

        try bench.avahi.remove("boat")
        let source = "network-nmea:127.0.0.1:\(bench.port)"
        await until { bench.reports.all.last == .lost(source: source) }
        #expect(bench.source.availableLevel == .none)
        #expect(await peer.nextLine() == nil)
        try bench.avahi.add(.init(name: "boat", port: bench.port))
        await until { bench.source.availableLevel == .exact }
        _ = try await bench.server.nextPeer()
        await bench.bus.stop()
    }

    @Test("a stranger that floods is cut off, and nothing of the flood but a few fixes gets through")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()

        for second in 0..<2000 { peer.send(gga("12\(String(10000 + second).dropFirst())")) }

        #expect(await peer.nextLine() == nil)
        await bench.clock.settle()
        #expect(bench.reports.all.filter { if case .fix = $0 { true } else { false } }.count <= 2)
        let accepted = bench.server.accepted
        await bench.clock.advance(by: .milliseconds(10))
        #expect(bench.server.accepted - accepted <= 1)
    }

    @Test("an Avahi that floods is asked no more than 32 things at a time")
    @ServiceActor
    func questions() async throws {
        let bench = try await Bench()
        let before = bench.avahi.resolutions
        bench.avahi.behaviour.hang()

        try bench.avahi.flood((0..<5000).map { _ in "boat" })
        await until { bench.avahi.resolutions > before }
        let bystander = try bench.bus.connect()
        for _ in 0..<300 { try await bystander.settle() }

        #expect(bench.avahi.resolutions - before == 32)
        bench.avahi.behaviour.release()
    }

    @Test("one that does not answer gives way to another")
    @ServiceActor
    func alternative() async throws {
        let bench = try await Bench()
        bench.source.run(for: .exact)
        let silent = try await bench.server.nextPeer()
        let other = try LoopbackServer.tcp()
        guard case .tcp(_, let port) = other.address else { return }
        try bench.avahi.add(.init(name: "quay", port: port))
        // Known as soon as its address has been asked for; until then nothing changes. An attempt to connect gets some
        // turns of the loop before the clock goes on, or it would end as one that was not answered.
        let bystander = try bench.bus.connect()
        while other.accepted == 0 {
            await bench.clock.advance(by: .seconds(31))
            for _ in 0..<20 where other.accepted == 0 { try await bystander.settle() }
        }

        #expect(await silent.nextLine() == nil)
        let peer = try await other.nextPeer()
        peer.send(gga("120000") + gga("120001"))
        #expect(try await bench.nextFix().source == "network-nmea:127.0.0.1:\(port)")
    }

    @Test("of services that cannot be reached each is complained about until something comes from it, or it is gone")
    @ServiceActor
    func complaints() async throws {
        let bench = try await Bench()
        let bystander = try bench.bus.connect()
        try bench.avahi.add(.init(name: "quay", port: bench.port))
        await until { bench.avahi.resolutions == 2 }
        for _ in 0..<20 { try await bystander.settle() }
        bench.server.stop()
        bench.source.run(for: .exact)

        await until { bench.source.complaints.count == 2 }
        try bench.server.listen()
        await bench.clock.advance(by: .seconds(5))
        let silent = try await bench.server.nextPeer()
        bench.source.run(for: nil)

        #expect(await silent.nextLine() == nil)
        #expect(bench.standingComplaints == ["boat": true, "quay": true])
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()
        peer.send(gga("120000") + gga("120001"))
        _ = try await bench.nextFix()
        bench.source.run(for: nil)
        #expect(await peer.nextLine() == nil)
        #expect(bench.standingComplaints == ["boat": false, "quay": true])
        try bench.avahi.remove("boat")
        await until { bench.standingComplaints.keys.sorted() == ["quay"] }
    }

    @Test("where there is no Avahi nothing can be had, and nobody is started to see")
    @ServiceActor
    func noAvahi() async throws {
        let bus = try await PrivateBus()
        let clock = ManualClock()
        let source = NetworkNMEASource(connection: try bus.connect(), clock: clock)
        source.discover()
        source.run(for: .exact)

        let avahi = try await FakeAvahi(bus.connect())
        try avahi.add(.init(name: "boat", port: 10110))
        await until { source.availableLevel == .exact }

        #expect(avahi.browsed.count == 1)
    }
}
