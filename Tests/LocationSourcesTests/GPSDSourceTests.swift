import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct GPSDSourceTests {
    init() { EventLoop.startThread() }

    private static let version = #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n"
    private static let devices = #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"}]}"# + "\r\n"
    private static let noDevices = #"{"class":"DEVICES","devices":[]}"# + "\r\n"
    private static let askForDevices = "?DEVICES;"
    private static let askToWatch = #"?WATCH={"enable":true,"json":true};"#

    private static func tpv(_ second: Int, mode: Int = 3) -> String {
        #"{"class":"TPV","device":"/dev/a","mode":\#(mode),"time":"2026-06-01T12:00:\#(10 + second).000Z","#
            + #""lat":10.5,"lon":20.25,"eph":8}"# + "\r\n"
    }

    /// On TCP, an attempt that is under way has a timer too; on a Unix socket it succeeds or fails at once.
    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let server: LoopbackServer
        let source: GPSDSource
        let reports: Reports

        init(_ server: LoopbackServer? = nil) throws {
            self.server = try server ?? LoopbackServer.tcp()
            source = GPSDSource(address: self.server.address, clock: clock)
            reports = Reports(of: source)
        }

        /// Answers a new connection's request, which is to be `request`.
        func greet(expecting request: String, answer: String = GPSDSourceTests.devices) async throws -> LoopbackPeer {
            let peer = try await server.nextPeer()
            peer.send(GPSDSourceTests.version)
            let line = await peer.nextLine()
            #expect(line == request)
            peer.send(answer)
            return peer
        }

        /// Starts the source and gives it a first fix.
        func watching() async throws -> LoopbackPeer {
            source.run(for: .exact)
            let peer = try await greet(expecting: GPSDSourceTests.askToWatch)
            peer.send(GPSDSourceTests.tpv(0))
            #expect(try await reports.next() == .availabilityChanged)
            #expect(try await reports.nextFix().source == "gpsd:/dev/a")
            return peer
        }
    }

    @Test("once a device is named it can serve exact positions, and hangs up until somebody wants them")
    @ServiceActor
    func discover() async throws {
        let bench = try Bench()
        #expect(bench.source.availableLevel == .none)

        bench.source.discover()
        let peer = try await bench.greet(expecting: Self.askForDevices)

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .exact)
        #expect(await peer.nextLine() == nil)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a gpsd without devices can serve nothing")
    @ServiceActor
    func noDevices() async throws {
        let bench = try Bench()

        bench.source.discover()
        let peer = try await bench.greet(expecting: Self.askForDevices, answer: Self.noDevices)

        #expect(await peer.nextLine() == nil)
        #expect(bench.source.availableLevel == .none && bench.reports.all.isEmpty)
    }

    @Test("fixes come while it is wanted, and the end of that closes the connection", arguments: ["tcp", "unix"])
    @ServiceActor
    func watches(kind: String) async throws {
        let bench = try Bench(kind == "unix" ? LoopbackServer() : nil)
        let peer = try await bench.watching()

        peer.send(Self.tpv(1))
        let fix = try await bench.reports.nextFix()
        bench.source.run(for: nil)

        #expect(fix.coordinate == Coordinate(latitude: 10.5, longitude: 20.25) && fix.horizontalAccuracy == 8)
        #expect(await peer.nextLine() == nil)
        #expect(bench.clock.pendingTimers == 0 && bench.source.availableLevel == .exact)
        #expect(bench.source.stopGrace == .seconds(15))
    }

    @Test("wanted while it is still asking for devices, it watches on the same connection")
    @ServiceActor
    func wantedMeanwhile() async throws {
        let bench = try Bench()
        bench.source.discover()
        let peer = try await bench.server.nextPeer()
        #expect(await peer.nextLine() == Self.askForDevices)

        bench.source.run(for: .exact)

        #expect(await peer.nextLine() == Self.askToWatch)
        peer.send(Self.version + Self.devices + Self.devices + Self.tpv(1))
        #expect(try await bench.reports.next() == .availabilityChanged)
        _ = try await bench.reports.nextFix()
        #expect(bench.server.accepted == 1)
    }

    @Test("a line in two pieces is joined, a cut or overlong one skipped")
    @ServiceActor
    func lines() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()

        peer.send(String(Self.tpv(1).prefix(50)))
        peer.send(#"{"class":"TPV","device":"/dev/a""# + "\n")
        peer.send(String(repeating: "x", count: 1_000_000) + "\n")
        peer.send(String(Self.tpv(2).prefix(50)))
        await until { peer.isRead }
        peer.send(String(Self.tpv(2).dropFirst(50)))

        #expect(try await bench.reports.nextFix().timestamp == Timestamp(seconds: 1_780_315_212))
    }

    @Test("a gpsd that is restarted is asked again at once")
    @ServiceActor
    func restart() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()

        peer.close()
        await until { bench.clock.hasTimer(in: .zero) }
        await bench.clock.advance(by: .zero)
        let next = try await bench.greet(expecting: Self.askToWatch)
        next.send(Self.tpv(1))

        _ = try await bench.reports.nextFix()
        #expect(bench.source.availableLevel == .exact)
    }

    @Test("a gpsd that is gone leaves the available level after some seconds, and is found when it is back")
    @ServiceActor
    func gone() async throws {
        let bench = try Bench(LoopbackServer())
        let peer = try await bench.watching()
        bench.server.stop()
        peer.close()
        for step in [0, 1, 2] {
            await until { bench.clock.hasTimer(in: .seconds(step)) }
            #expect(bench.source.availableLevel == .exact)
            await bench.clock.advance(by: .seconds(step))
        }

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .none)

        try bench.server.listen()
        await bench.clock.advance(by: .seconds(4))
        let next = try await bench.greet(expecting: Self.askToWatch)
        next.send(Self.tpv(1))
        #expect(try await bench.reports.next() == .availabilityChanged)
        _ = try await bench.reports.nextFix()
    }

    @Test("where there is no gpsd it looks again after 5, 10, 20 … s, and gives up if nobody wants it")
    @ServiceActor
    func absent() async throws {
        let bench = try Bench(LoopbackServer())
        bench.server.stop()

        bench.source.discover()
        for wait in [5, 10, 20, 40, 60, 60, 60] {
            await until { bench.clock.hasTimer(in: .seconds(wait)) }
            await bench.clock.advance(by: .seconds(wait) - .milliseconds(1))
            #expect(bench.clock.pendingTimers == 1)
            await bench.clock.advance(by: .milliseconds(1))
        }
        await until { bench.clock.pendingTimers == 0 }

        try bench.server.listen()
        bench.source.run(for: .exact)
        _ = try await bench.greet(expecting: Self.askToWatch)
    }

    @Test("somebody who wants it now does not wait for the next look")
    @ServiceActor
    func wantedWhileWaiting() async throws {
        let bench = try Bench(LoopbackServer())
        bench.server.stop()
        bench.source.discover()
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        try bench.server.listen()

        bench.source.run(for: .exact)

        _ = try await bench.greet(expecting: Self.askToWatch)
    }

    @Test("a server that says nothing is left after five seconds")
    @ServiceActor
    func mute() async throws {
        let bench = try Bench()
        bench.source.run(for: .exact)
        let peer = try await bench.server.nextPeer()
        _ = await peer.nextLine()

        await bench.clock.advance(by: .seconds(5))

        #expect(await peer.nextLine() == nil)
    }

    @Test("a device that falls silent is lost after 30 s, and gpsd is asked for its devices once")
    @ServiceActor
    func silent() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()

        await bench.clock.advance(by: .seconds(29))
        #expect(bench.reports.all.count == 2)
        await bench.clock.advance(by: .seconds(1))

        #expect(try await bench.reports.next() == .lost(source: "gpsd:/dev/a"))
        #expect(await peer.nextLine() == Self.askForDevices)
        peer.send(Self.noDevices)
        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(bench.source.availableLevel == .none)
    }

    @Test("modes 0 and 1 give nothing, and fixes after them go on")
    @ServiceActor
    func modes() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()

        peer.send(Self.tpv(1, mode: 0) + Self.tpv(2, mode: 1) + Self.tpv(3, mode: 2))

        #expect(try await bench.reports.nextFix().timestamp == Timestamp(seconds: 1_780_315_213))
    }

    @Test("a removed device is lost at once")
    @ServiceActor
    func removed() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()

        peer.send(#"{"class":"DEVICE","path":"/dev/a","activated":0}"# + "\r\n")

        #expect(try await bench.reports.next() == .availabilityChanged)
        #expect(try await bench.reports.next() == .lost(source: "gpsd:/dev/a"))
    }

    @Test("a report that stops the source ends what is still to be told")
    @ServiceActor
    func stopFromReport() async throws {
        let bench = try Bench()
        let peer = try await bench.watching()
        var count = 0
        bench.source.report = { [source = bench.source] _ in
            count += 1
            source.run(for: nil)
        }

        peer.send(Self.tpv(1) + Self.tpv(2) + Self.tpv(3))

        #expect(await peer.nextLine() == nil)
        #expect(count == 1)
    }
}
