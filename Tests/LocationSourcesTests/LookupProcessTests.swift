import EventLoop
import Foundation
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// The daemon's side, with a lookup process that the test plays on a socket.
@Suite(.timeLimit(.minutes(1)))
struct LookupProcessTests {
    init() { EventLoop.startThread() }

    private static let request = LookupRequest(
        url: "https://a.test/?key=k", userAgent: "test/1", body: Array("{}".utf8))
    private static let found = LookupOutcome.answered(.init(status: 200, body: Array("here".utf8)))

    /// The part under test and what it talks to.
    @ServiceActor
    private struct Bench {
        let clock = ManualClock()
        let server: LoopbackServer
        let lookup: LookupProcess

        init() throws {
            server = try LoopbackServer()
            lookup = LookupProcess(socket: server.address.description, program: nil, clock: clock)
        }

        func ask(_ request: LookupRequest = LookupProcessTests.request) -> Task<LookupOutcome, Never> {
            ServiceActor.task { [lookup] in await lookup.send(request) }
        }
    }

    /// The id of the request that comes next.
    @ServiceActor
    private static func nextID(_ peer: LoopbackPeer) async throws -> UInt32 {
        let line = try #require(await peer.nextLine())
        let request = try RequestLine(reading: Array(line.utf8))
        #expect(request.request == Self.request)
        return request.id
    }

    @ServiceActor
    private static func answer(_ peer: LoopbackPeer, _ id: UInt32, _ outcome: LookupOutcome = found) throws {
        peer.send(try AnswerLine(id: id, outcome: outcome).text())
    }

    private static func reason(_ outcome: LookupOutcome) -> String? {
        if case .failed(let reason) = outcome { reason } else { nil }
    }

    @Test("nothing is connected to before there is a request, and several requests share one connection")
    @ServiceActor
    func several() async throws {
        let bench = try Bench()
        #expect(bench.server.accepted == 0)

        let calls = (0..<2).map { _ in bench.ask() }
        let peer = try await bench.server.nextPeer()
        let ids = [try await Self.nextID(peer), try await Self.nextID(peer)]
        try Self.answer(peer, ids[1], .answered(.init(status: 404, retryAfter: 7, body: [])))
        try Self.answer(peer, ids[0])

        #expect(await calls[0].value == Self.found)
        #expect(await calls[1].value == .answered(.init(status: 404, retryAfter: 7, body: [])))
        let third = bench.ask()
        try Self.answer(peer, try await Self.nextID(peer))
        #expect(await third.value == Self.found)
        #expect(bench.server.accepted == 1)
    }

    @Test("an answer may come in pieces")
    @ServiceActor
    func pieces() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()

        let text = try AnswerLine(id: try await Self.nextID(peer), outcome: Self.found).text()
        for character in text {
            peer.send(String(character))
            await Task.yield()
        }

        #expect(await call.value == Self.found)
    }

    @Test("a process that nobody needs is let go after thirty seconds, and the next request finds another one")
    @ServiceActor
    func idle() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        try Self.answer(peer, try await Self.nextID(peer))
        _ = await call.value

        await bench.clock.advance(by: .seconds(30))
        #expect(await peer.nextLine() == nil)
        let next = bench.ask()
        let other = try await bench.server.nextPeer()
        try Self.answer(other, try await Self.nextID(other))

        #expect(await next.value == Self.found)
        #expect(bench.clock.pendingTimers == 1)
    }

    @Test("one that leaves while it has nothing to do has not failed")
    @ServiceActor
    func left() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        try Self.answer(peer, try await Self.nextID(peer))
        _ = await call.value

        peer.close()
        await until { bench.clock.pendingTimers == 0 }
        let next = bench.ask()
        let other = try await bench.server.nextPeer()
        try Self.answer(other, try await Self.nextID(other))

        #expect(await next.value == Self.found)
    }

    @Test("after a request that found no network the next one gets a fresh process")
    @ServiceActor
    func fresh() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()

        try Self.answer(peer, try await Self.nextID(peer), .failed(reason: "Couldn't resolve host name"))

        #expect(await call.value == .failed(reason: "Couldn't resolve host name"))
        #expect(await peer.nextLine() == nil)
        let next = bench.ask()
        let other = try await bench.server.nextPeer()
        try Self.answer(other, try await Self.nextID(other))
        #expect(await next.value == Self.found)
    }

    @Test("one that does not answer within twelve seconds is given up, with all that it was to answer")
    @ServiceActor
    func hung() async throws {
        let bench = try Bench()
        let first = bench.ask()
        let peer = try await bench.server.nextPeer()
        let id = try await Self.nextID(peer)
        await bench.clock.advance(by: .seconds(5))
        let second = bench.ask()
        _ = try await Self.nextID(peer)

        await bench.clock.advance(by: .seconds(7) - .milliseconds(1))
        #expect(bench.clock.pendingTimers == 2)
        await bench.clock.advance(by: .milliseconds(1))

        #expect(await first.value == .failed(reason: "the lookup process hangs"))
        #expect(await second.value == .failed(reason: "the lookup process hangs"))
        // Too late.
        try Self.answer(peer, id)
        #expect(await peer.nextLine() == nil)
    }

    @Test(
        "one that says what nobody understands, answers what nobody asked, or says too much is hung up on",
        arguments: [
            "hello\n", "{\"version\":2,\"id\":0,\"status\":200,\"body\":\"\"}\n",
            "{\"version\":1,\"id\":77,\"status\":200,\"body\":\"\"}\n",
            "{\"version\":1,\"id\":0,\"status\":20,\"body\":\"\"}\n", "\n",
            Sample(String(repeating: " ", count: LookupLimits.answerLine + 1)),
        ] as [Sample])
    @ServiceActor
    func nonsense(text: Sample) async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        _ = try await Self.nextID(peer)

        peer.send(text.text)

        #expect(Self.reason(await call.value)?.hasPrefix("the lookup process ") == true)
        #expect(await peer.nextLine() == nil)
    }

    @Test("a line that nobody asked for ends a process that has nothing to do, too")
    @ServiceActor
    func unasked() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        let id = try await Self.nextID(peer)
        try Self.answer(peer, id)
        _ = await call.value

        try Self.answer(peer, id)

        #expect(await peer.nextLine() == nil)
        #expect(await bench.ask().value == .failed(reason: "the lookup process has failed, and rests"))
    }

    @Test("one that crashes fails what was open; it is tried again after 1, 2, 4 … seconds, and no earlier")
    @ServiceActor
    func crashes() async throws {
        let bench = try Bench()

        for wait in [1, 2, 4, 8] {
            let calls = (0..<2).map { _ in bench.ask() }
            let peer = try await bench.server.nextPeer()
            _ = try await Self.nextID(peer)
            peer.close()
            for call in calls { #expect(await call.value == .failed(reason: "the lookup process has ended")) }
            await bench.clock.advance(by: .seconds(wait) - .milliseconds(1))
            #expect(await bench.ask().value == .failed(reason: "the lookup process has failed, and rests"))
            await bench.clock.advance(by: .milliseconds(1))
        }

        #expect(bench.server.accepted == 4)
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        try Self.answer(peer, try await Self.nextID(peer))
        #expect(await call.value == Self.found)
        // It has worked, so the waits begin anew.
        let next = bench.ask()
        _ = try await Self.nextID(peer)
        peer.close()
        _ = await next.value
        await bench.clock.advance(by: .seconds(1))
        _ = bench.ask()
        _ = try await bench.server.nextPeer()
    }

    @Test("a cancelled request ends at once, and with it the connection that was for it alone")
    @ServiceActor
    func cancelled() async throws {
        let bench = try Bench()
        let call = bench.ask()
        let peer = try await bench.server.nextPeer()
        _ = try await Self.nextID(peer)

        call.cancel()

        #expect(await call.value == .failed(reason: "cancelled"))
        #expect(await peer.nextLine() == nil)
        #expect(bench.clock.pendingTimers == 0)
        let next = bench.ask()
        let other = try await bench.server.nextPeer()
        try Self.answer(other, try await Self.nextID(other))
        #expect(await next.value == Self.found)
    }

    @Test("a request that is cancelled beside another one leaves that alone, and its late answer is nothing wrong")
    @ServiceActor
    func cancelledBeside() async throws {
        let bench = try Bench()
        let calls = (0..<2).map { _ in bench.ask() }
        let peer = try await bench.server.nextPeer()
        let ids = [try await Self.nextID(peer), try await Self.nextID(peer)]

        calls[0].cancel()
        #expect(await calls[0].value == .failed(reason: "cancelled"))
        try Self.answer(peer, ids[0])
        try Self.answer(peer, ids[1])

        #expect(await calls[1].value == Self.found)
        #expect(bench.server.accepted == 1)
    }

    @Test("a task that is cancelled before it asks connects to nobody")
    @ServiceActor
    func cancelledBefore() async throws {
        let bench = try Bench()

        let call = bench.ask()
        call.cancel()

        #expect(await call.value == .failed(reason: "cancelled"))
        #expect(bench.server.accepted == 0 && bench.clock.pendingTimers == 0)
    }

    @Test("more than four requests at once, and such as cannot be sent, fail at once")
    @ServiceActor
    func refused() async throws {
        let bench = try Bench()
        let calls = (0..<4).map { _ in bench.ask() }
        let peer = try await bench.server.nextPeer()
        for _ in calls { _ = try await Self.nextID(peer) }

        #expect(await bench.ask().value == .failed(reason: "too many requests at once"))
        calls.forEach { $0.cancel() }
        var bad = Self.request
        bad.userAgent = "a\r\nb"
        for call in calls { _ = await call.value }
        #expect(await bench.ask(bad).value == .failed(reason: "the request cannot be sent: “user-agent” is not valid"))
    }

    @Test("where there is neither a socket nor a program the request fails with that")
    @ServiceActor
    func nothing() async {
        for socket in [nil, LoopbackServer.freshPath().description] {
            let lookup = LookupProcess(socket: socket, program: nil, clock: ManualClock())

            #expect(await lookup.send(Self.request) == .failed(reason: "there is no lookup process"))
        }
    }

    @Test("the installed program is beside the one that runs")
    func installed() throws {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

        #expect(LookupProcess.installedProgram == own.appending(path: "whereabouts-lookup").path)
    }
}
