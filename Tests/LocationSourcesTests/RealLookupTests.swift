import DBusTestSupport
import EventLoop
import Foundation
import LookupProtocol
import Testing

@testable import LocationSources

/// The real program, as the daemon's child, behind a socket as systemd has it, and asked directly.
@Suite(.timeLimit(.minutes(1)))
struct RealLookupTests {
    init() { EventLoop.startThread() }

    @Test("a request arrives as a POST of JSON with the user agent, and its answer comes back")
    @ServiceActor
    func exchange() async throws {
        let server = try LoopbackServer.tcp()
        let lookup = LookupProcess(socket: nil, program: RealLookup.program, clock: LoopClock.shared)

        let call = ServiceActor.task {
            await lookup.send(RealLookup.request("http://\(server.address)/v1/geolocate?key=k"))
        }
        let peer = try await server.nextPeer()
        let asked = await AskedRequest(peer)
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere")

        #expect(await call.value == .answered(.init(status: 200, body: Array("here".utf8))))
        #expect(asked.head.first == "POST /v1/geolocate?key=k HTTP/1.1")
        #expect(asked.head.contains("Content-Type: application/json"))
        #expect(asked.head.contains("User-Agent: Whereabouts/0 (test)"))
        #expect(asked.head.contains("Content-Length: 20"))
        #expect(asked.body == "{\"considerIp\":true}")
    }

    @Test("the nickname of a submission arrives as a header, and other requests have none")
    @ServiceActor
    func nickname() async throws {
        let server = try LoopbackServer.tcp()
        let lookup = LookupProcess(socket: nil, program: RealLookup.program, clock: LoopClock.shared)
        var request = RealLookup.request("http://\(server.address)/v2/geosubmit")

        var names: [[String]] = []
        for nickname in ["Jo (boat)", nil] {
            request.nickname = nickname
            let call = ServiceActor.task { [request] in await lookup.send(request) }
            let peer = try await server.nextPeer()
            names.append(await AskedRequest(peer).head.filter { $0.lowercased().hasPrefix("x-nickname") })
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            #expect(await call.value == .answered(.init(status: 200, body: [])))
        }

        #expect(names == [["X-Nickname: Jo (boat)"], []])
    }

    @Test("the same behind a socket that systemd passes, after which the process leaves by itself")
    @ServiceActor
    func socketActivation() async throws {
        let server = try LoopbackServer.tcp()
        let socket = LoopbackServer.freshPath().description
        defer { unlink(socket) }
        let process = try ChildProgram(
            "systemd-socket-activate", ["-E", RealLookup.sanitizer, "-l", socket, RealLookup.program])
        _ = try await process.errors.next(containing: "Listening on")
        var lookup: LookupProcess? = LookupProcess(socket: socket, program: nil, clock: LoopClock.shared)

        for wait in [nil, 90] as [UInt32?] {
            let call = ServiceActor.task { [lookup] in
                await lookup?.send(RealLookup.request("http://\(server.address)/"))
            }
            let peer = try await server.nextPeer()
            _ = await AskedRequest(peer)
            let header = wait.map { "Retry-After: \($0)\r\n" } ?? ""
            peer.send("HTTP/1.1 503 No\r\nConnection: close\r\n\(header)Content-Length: 0\r\n\r\n")
            #expect(await call.value == .answered(.init(status: 503, retryAfter: wait, body: [])))
        }
        lookup = nil

        #expect(await process.ended() == .status(0))
    }

    @Test("a request to this machine passes by the proxy, any other goes to it and says no more than where to")
    @ServiceActor
    func proxy() async throws {
        let (server, proxy) = (try LoopbackServer.tcp(), try LoopbackServer.tcp())
        let direct = try RealLookup(environment: [
            "all_proxy=http://\(proxy.address)", "https_proxy=http://\(proxy.address)",
        ])

        try direct.send(to: "http://\(server.address)/")
        let peer = try await server.nextPeer()
        _ = await AskedRequest(peer)
        peer.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        _ = await direct.peer.nextLine()
        #expect(proxy.accepted == 0)
        try direct.send(2, to: "https://lookup.test/?key=secret")
        let asked = try await proxy.nextPeer()
        var head: [String] = []
        while let line = await asked.nextLine(), line != "\r" { head.append(line) }
        asked.send("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
        let answer = try await direct.nextAnswer()

        #expect(head.first == "CONNECT lookup.test:443 HTTP/1.1\r")
        #expect(!head.contains { $0.contains("secret") })
        #expect(answer.outcome.failure != nil)
    }

    @Test("more requests than it takes at once are answered one after the other")
    @ServiceActor
    func many() async throws {
        let server = try LoopbackServer.tcp()
        let direct = try RealLookup()
        let count = UInt32(3 * LookupLimits.openRequests)
        for id in 0..<count {
            try direct.send(id, to: "http://\(server.address)/")
        }

        var answered: Set<UInt32> = []
        for _ in 0..<count {
            let peer = try await server.nextPeer()
            _ = await AskedRequest(peer)
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            answered.insert(try await direct.nextAnswer().id)
        }

        #expect(answered == Set(0..<count))
    }

    @Test("hung up on, it lets go of the request at once and leaves")
    @ServiceActor
    func hungUp() async throws {
        let server = try LoopbackServer.tcp()
        let direct = try RealLookup()
        try direct.send(to: "http://\(server.address)/")
        let peer = try await server.nextPeer()
        _ = await AskedRequest(peer)

        direct.peer.close()

        #expect(await peer.nextLine() == nil)
        #expect(await direct.exit() == .status(0))
    }
}
