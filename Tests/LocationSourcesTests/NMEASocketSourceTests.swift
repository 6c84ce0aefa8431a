import EventLoop
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct NMEASocketSourceTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let server: LoopbackServer
        let source: NMEASocketSource
        let reports: Reports

        init() throws {
            server = try LoopbackServer()
            source = NMEASocketSource(address: server.address, clock: clock)
            reports = Reports(of: source)
        }

        /// Starts the source and makes it learn that GGA comes alone.
        func started() async throws -> LoopbackPeer {
            source.run(for: .exact)
            let peer = try await server.nextPeer()
            peer.send(gga("115957") + gga("115958") + gga("115959"))
            for _ in 0..<3 { _ = try await reports.nextFix() }
            return peer
        }
    }

    @Test("it can serve exact positions before anything is connected, and connects only when wanted")
    @ServiceActor
    func onDemand() async throws {
        let bench = try Bench()

        bench.source.discover()
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.source.availableLevel == .exact)
        #expect(bench.server.accepted == 0 && bench.clock.pendingTimers == 0)
    }

    @Test("a fix says what the receiver said, when, and who")
    @ServiceActor
    func fix() async throws {
        let bench = try Bench()
        let peer = try await bench.started()

        peer.send(gga("120000.25") + rmc("120000.25"))
        let fix = try await bench.reports.nextFix()

        #expect(fix.coordinate == Coordinate(latitude: 10.5, longitude: 20))
        #expect(fix.horizontalAccuracy == 19 && fix.altitude == 55.5 && fix.heading == 90)
        #expect(fix.timestamp == Timestamp(microseconds: 1_780_315_200_250_000))
        #expect(fix.measuredAt == bench.clock.now)
        #expect(fix.kind == .gnss && fix.source == "nmea-socket" && !fix.isSimulated)
    }

    @Test("an unfinished epoch is told 300 ms after its last byte")
    @ServiceActor
    func silence() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()

        peer.send(gga("120000"))
        await until { bench.clock.hasTimer(in: .milliseconds(300)) }
        await bench.clock.advance(by: .milliseconds(299))
        #expect(bench.reports.all.isEmpty)
        await bench.clock.advance(by: .milliseconds(1))

        #expect(try await bench.reports.nextFix().measuredAt == .seconds(1000))
    }

    @Test("stopping closes the connection at once and leaves no timer")
    @ServiceActor
    func stop() async throws {
        let bench = try Bench()
        let peer = try await bench.started()

        bench.source.run(for: nil)

        #expect(await peer.nextLine() == nil)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a report that stops the source ends what is still to be told")
    @ServiceActor
    func stopFromReport() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()
        var count = 0
        bench.source.report = { [source = bench.source] _ in
            count += 1
            source.run(for: nil)
        }

        peer.send(gga("115957") + gga("115958") + gga("115959"))
        #expect(await peer.nextLine() == nil)

        #expect(count == 1)
    }

    @Test("a feeder that hangs up is found again at once, and each time later while it does so")
    @ServiceActor
    func hangUp() async throws {
        let bench = try Bench()
        (try await bench.started()).close()
        await until { bench.clock.hasTimer(in: .zero) }

        await bench.clock.advance(by: .zero)
        let second = try await bench.server.nextPeer()
        second.send(gga("115958") + gga("115959"))
        _ = try await bench.reports.nextFix()
        second.close()
        await until { bench.clock.hasTimer(in: .milliseconds(250)) }
        await bench.clock.advance(by: .milliseconds(249))
        #expect(bench.server.accepted == 2)
        await bench.clock.advance(by: .milliseconds(1))

        let peer = try await bench.server.nextPeer()
        peer.send(gga("120000") + gga("120001"))
        #expect(try await bench.reports.nextFix().coordinate.latitude == 10.5)
    }

    @Test("a feeder that starts after the client is found within a quarter of a second")
    @ServiceActor
    func lateFeeder() async throws {
        let bench = try Bench()
        bench.server.stop()
        bench.source.run(for: .exact)
        await until { bench.clock.hasTimer(in: .zero) }
        await bench.clock.advance(by: .zero)
        await until { bench.clock.hasTimer(in: .milliseconds(250)) }

        try bench.server.listen()
        await bench.clock.advance(by: .milliseconds(250))

        _ = try await bench.server.nextPeer()
    }

    @Test("sentences cut by a broken connection do not reach into the next")
    @ServiceActor
    func tornByReconnect() async throws {
        let bench = try Bench()
        let peer = try await bench.started()
        peer.send(String(gga("120000").prefix(40)))
        peer.close()
        await until { bench.clock.hasTimer(in: .zero) }
        await bench.clock.advance(by: .zero)

        let next = try await bench.server.nextPeer()
        next.send(String(gga("120000").dropFirst(40)) + gga("120001", minutes: "30.0000") + gga("120002"))

        #expect(try await bench.reports.nextFix().coordinate.longitude == 20.5)
    }

    @Test("a receiver without a fix for 30 s is lost, once, whether it says so or is silent", arguments: [true, false])
    @ServiceActor
    func lost(speaks: Bool) async throws {
        let bench = try Bench()
        let peer = try await bench.started()
        if speaks {
            peer.send(gga("120000", quality: "0"))
            peer.send(gga("120001", quality: "0"))
        }

        await bench.clock.advance(by: .seconds(29))
        #expect(bench.reports.all.count == 3)
        await bench.clock.advance(by: .seconds(60))

        #expect(bench.reports.all.dropFirst(3) == [.lost(source: "nmea-socket")])
        peer.send(gga("120100") + gga("120101"))
        await until { bench.reports.all.count >= 5 }
    }

    @Test("fixes keep a receiver from being lost")
    @ServiceActor
    func alive() async throws {
        let bench = try Bench()
        let peer = try await bench.started()

        for second in 0..<8 {
            await bench.clock.advance(by: .seconds(9))
            peer.send(gga("12000\(second)"))
            await until { bench.reports.all.count == 4 + second }
        }

        #expect(!bench.reports.all.contains(.lost(source: "nmea-socket")))
    }

    @Test("a flood without sentences leaves the source working")
    @ServiceActor
    func flood() async throws {
        let bench = try Bench()
        let peer = try await bench.started()

        peer.send("$" + String(repeating: "G", count: 1_000_000) + "\n" + gga("120000"))

        #expect(try await bench.reports.nextFix().measuredAt == bench.clock.now)
        #expect(bench.reports.all.count == 4 && bench.server.accepted == 1)
    }

    @Test("two thousand fixes in one go all arrive, in order")
    @ServiceActor
    func burst() async throws {
        let bench = try Bench()
        let peer = try await bench.started()
        let times = (0..<2000).map { (second: Int) -> String in String(110_000 + second / 60 * 100 + second % 60) }

        peer.send(times.map { gga($0) }.joined())
        await until { bench.reports.all.count == 2003 }

        let stamps = bench.reports.all.dropFirst(3).compactMap(\.fix?.timestamp)
        #expect(stamps == stamps.sorted() && Set(stamps).count == 2000)
    }
}
