import EventLoop
import Glibc
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite struct StreamAddressTests {
    @Test(
        "paths and literal addresses are read, with and without a port",
        arguments: [
            ("/run/gpsd.sock", StreamAddress.unix(path: "/run/gpsd.sock"), "/run/gpsd.sock"),
            ("127.0.0.1:2948", .tcp(host: "127.0.0.1", port: 2948), "127.0.0.1:2948"),
            ("192.0.2.7", .tcp(host: "192.0.2.7", port: 2947), "192.0.2.7:2947"),
            ("[::1]:10110", .tcp(host: "::1", port: 10110), "[::1]:10110"),
            ("[::1]", .tcp(host: "::1", port: 2947), "[::1]:2947"),
            ("::1", .tcp(host: "::1", port: 2947), "[::1]:2947"),
            ("localhost:1", .tcp(host: "127.0.0.1", port: 1), "127.0.0.1:1"),
        ])
    func reads(text: String, address: StreamAddress, description: String) throws {
        #expect(try StreamAddress(text, defaultPort: 2947) == address)
        #expect(address.description == description)
    }

    @Test(
        "names and nonsense are refused with a reason",
        arguments: [
            ("", StreamAddress.Refusal.empty), ("gps.example.net:2947", .notAnAddress), ("127.0.0.1:", .badPort),
            ("127.0.0.1:0", .badPort), ("127.0.0.1:65536", .badPort), ("[::1", .notAnAddress),
            ("[::1]2947", .notAnAddress),
            ("1.2.3", .notAnAddress), (":2947", .notAnAddress),
            ("/" + String(repeating: "x", count: 107), .pathTooLong(limit: 107)),
        ])
    func refuses(text: String, refusal: StreamAddress.Refusal) {
        #expect(throws: refusal) { try StreamAddress(text, defaultPort: 2947) }
    }
}

@Suite struct ReconnectTests {
    private func waits(_ policy: Reconnect, _ lifetimes: [Int], worksFirst: Bool) -> [Duration] {
        var policy = policy
        if worksFirst { policy.worked() }
        return lifetimes.map { policy.wait(afterLiving: .seconds($0)) }
    }

    @Test("where there is no gpsd, waits double from 5 s to a minute")
    func refused() {
        let waits = waits(.gpsd, [0, 0, 0, 0, 0, 0], worksFirst: false)

        #expect(waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    }

    @Test("a connection to gpsd that worked and ended is retried at once, then after 1, 2, 4 … 30 s")
    func ended() {
        let waits = waits(.gpsd, [60, 0, 0, 0, 0, 0, 0, 0], worksFirst: true)

        #expect(waits == [0, 1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    }

    @Test("a connection that lasted starts the waits anew; one that hangs up at once does not")
    func steady() {
        let waits = waits(.gpsd, [60, 1, 1, 10, 9], worksFirst: true)

        #expect(waits == [0, 1, 2, 0, 1].map { .seconds($0) })
    }

    @Test("a feed is retried at once, then after a quarter of a second doubling to 5 s, whether it worked or not")
    func feed() {
        let expected: [Duration] = [0, 250, 500, 1000, 2000, 4000, 5000, 5000].map { .milliseconds($0) }

        #expect(waits(.feed, Array(repeating: 0, count: 8), worksFirst: false) == expected)
        #expect(waits(.feed, [60] + Array(repeating: 0, count: 7), worksFirst: true) == expected)
    }

    @Test("a million failures do not overflow")
    func many() {
        #expect(waits(.gpsd, Array(repeating: 0, count: 1_000_000), worksFirst: false).last == .seconds(60))
    }
}

@Suite struct LineReaderTests {
    private func lines(_ pieces: [String], limit: Int = 10) -> [String] {
        var reader = LineReader(limit: limit)
        var found: [String] = []
        for piece in pieces {
            Array(piece.utf8).withUnsafeBytes { reader.read($0) { found.append(String(decoding: $0, as: UTF8.self)) } }
        }
        return found
    }

    @Test("lines are whole however they are cut, without their ends")
    func pieces() {
        #expect(lines(["on", "e\r", "\ntw", "o\n\n\r\nthree\nfo"]) == ["one", "two", "three"])
    }

    @Test("a line of the limit is kept, a longer one dropped, the next one kept")
    func limit() {
        #expect(lines(["1234567890\r\n12345678901\r\nok\n"]) == ["1234567890", "ok"])
        #expect(lines(["123456789", "01", "\n", "ok\n"]) == ["ok"])
    }

    @Test("a megabyte without a line end is dropped, not kept")
    func flood() {
        #expect(lines(Array(repeating: String(repeating: "x", count: 16384), count: 64) + ["\nok\n"]) == ["ok"])
    }
}

@Suite(.timeLimit(.minutes(1))) struct StreamConnectionTests {
    init() { EventLoop.startThread() }

    /// What a connection says, as text.
    @ServiceActor
    private func open(_ address: StreamAddress, clock: any Clock = ManualClock()) -> (
        StreamConnection, AsyncStream<String>
    ) {
        let (events, sink) = AsyncStream.makeStream(of: String.self)
        let connection = StreamConnection(to: address, clock: clock) { event in
            switch event {
            case .connected: sink.yield("connected")
            case .received(let bytes): sink.yield(String(decoding: bytes, as: UTF8.self))
            case .ended(let end):
                sink.yield("ended: \(end)")
                sink.finish()
            }
        }
        return (connection, events)
    }

    @Test("it connects, carries both ways and tells the end", arguments: ["unix", "127.0.0.1"] + LoopbackServer.sixes)
    @ServiceActor
    func life(kind: String) async throws {
        let server = try kind == "unix" ? LoopbackServer() : LoopbackServer.tcp(host: kind)
        let (connection, events) = open(server.address)
        let peer = try await server.nextPeer()
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == "connected")

        connection.send("hello\n")
        let line = await peer.nextLine()
        peer.send("welcome")
        let answer = await iterator.next()
        peer.close()

        #expect(line == "hello" && answer == "welcome")
        #expect(await iterator.next() == "ended: the other side closed the connection")
        #expect(await iterator.next() == nil)
    }

    @Test("where nothing listens the attempt ends with the system's reason")
    @ServiceActor
    func refused() async throws {
        let (_kept, events) = open(LoopbackServer.freshPath())
        let server = try LoopbackServer.tcp()
        server.stop()
        let (_keptToo, tcpEvents) = open(server.address)

        var (iterator, tcpIterator) = (events.makeAsyncIterator(), tcpEvents.makeAsyncIterator())

        #expect(await iterator.next() == "ended: No such file or directory")
        #expect(await tcpIterator.next() == "ended: Connection refused")
        withExtendedLifetime((_kept, _keptToo)) {}
    }

    @Test("after close nothing comes, and the other side sees the end at once")
    @ServiceActor
    func closed() async throws {
        let server = try LoopbackServer()
        let (connection, events) = open(server.address)
        let peer = try await server.nextPeer()
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()

        peer.send("late")
        connection.close()

        #expect(await peer.nextLine() == nil)
        connection.send("x")
        let (other, otherEvents) = open(server.address)
        var otherIterator = otherEvents.makeAsyncIterator()
        #expect(await otherIterator.next() == "connected")
        other.close()
    }

    @Test("an attempt that nobody answers ends after ten seconds")
    @ServiceActor
    func timeout() async throws {
        let clock = ManualClock()
        // Whoever comes when the queue of those to be accepted is full gets no answer.
        let server = try LoopbackServer.tcp(backlog: 0)
        server.pause()
        let fillers = (0..<4).map { _ in open(server.address, clock: clock) }
        let (connection, events) = open(server.address, clock: clock)

        await clock.advance(by: .seconds(10) - .milliseconds(1))
        #expect(clock.pendingTimers > 0)
        await clock.advance(by: .milliseconds(1))
        var iterator = events.makeAsyncIterator()

        #expect(await iterator.next() == "ended: no answer")
        withExtendedLifetime((connection, fillers)) {}
    }

    @Test("letting go of a connection without closing it frees its descriptor for the next")
    @ServiceActor
    func letGo() async throws {
        let server = try LoopbackServer()
        for _ in 0..<3 {
            var (connection, events): (StreamConnection?, AsyncStream<String>) = open(server.address)
            var iterator = events.makeAsyncIterator()
            _ = await iterator.next()
            let peer = try await server.nextPeer()
            connection = nil
            #expect(await peer.nextLine() == nil)
            withExtendedLifetime(connection) {}
        }
    }
}
