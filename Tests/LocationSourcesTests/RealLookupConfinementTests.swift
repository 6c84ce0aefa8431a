import DBusTestSupport
import EventLoop
import Foundation
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// What the real program refuses, whoever asks for it or answers it.
@Suite(.timeLimit(.minutes(1)))
struct RealLookupConfinementTests {
    init() { EventLoop.startThread() }

    @Test("it does not follow to another address")
    @ServiceActor
    func redirect() async throws {
        let (server, other) = (try LoopbackServer.tcp(), try LoopbackServer.tcp())
        let lookup = LookupProcess(socket: nil, program: RealLookup.program, clock: LoopClock.shared)

        let call = ServiceActor.task { await lookup.send(RealLookup.request("http://\(server.address)/")) }
        let peer = try await server.nextPeer()
        _ = await AskedRequest(peer)
        peer.send("HTTP/1.1 307 There\r\nLocation: http://\(other.address)/\r\nContent-Length: 0\r\n\r\n")

        #expect(await call.value == .answered(.init(status: 307, body: [])))
        #expect(other.accepted == 0)
    }

    @Test("an answer of the limit is passed on; one that is longer, said to be so or not, is cut off as a failure")
    @ServiceActor
    func longAnswer() async throws {
        let limit = LookupLimits.answerBody
        let lookup = LookupProcess(socket: nil, program: RealLookup.program, clock: LoopClock.shared)
        for (header, size) in [("Content-Length: \(limit)\r\n", limit), ("", limit + 1), ("X: y\r\n", 40 * limit)] {
            let server = try LoopbackServer.tcp()
            let call = ServiceActor.task { await lookup.send(RealLookup.request("http://\(server.address)/")) }
            let peer = try await server.nextPeer()
            _ = await AskedRequest(peer)
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\(header)\r\n\(String(repeating: "\u{1}", count: size))")

            switch await call.value {
            case .answered(let response): #expect(size == limit && response.body.count == size)
            case .failed(let reason): #expect(size > limit && reason == "the answer is too long")
            }
        }
    }

    @Test(
        "what is no HTTP is a failure, and no crash",
        arguments: [
            "", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 \r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            Sample(
                "HTTP/1.1 200 OK\r\n" + String(repeating: "X: \(String(repeating: "x", count: 1000))\r\n", count: 100)),
        ] as [Sample])
    @ServiceActor
    func noHTTP(text: Sample) async throws {
        let server = try LoopbackServer.tcp()
        let direct = try RealLookup()

        try direct.send(to: "http://\(server.address)/")
        let peer = try await server.nextPeer()
        _ = await AskedRequest(peer)
        peer.send(text.text)
        await until { peer.isFlushed }
        peer.close()
        let answer = try await direct.nextAnswer()

        #expect(answer.outcome.failure != nil)
        direct.peer.close()
        #expect(await direct.exit() == .status(0))
    }

    @Test(
        "plain HTTP goes to this machine only, and no other scheme goes anywhere",
        arguments: [
            ("http://192.0.2.1/", "plain HTTP leaves the machine"),
            ("http://example.org/", "plain HTTP leaves the machine"),
            ("http://127.0.0.1.example.org/", "plain HTTP leaves the machine"),
            ("http://localhost.example.org/", "plain HTTP leaves the machine"),
            ("HTTP://[2001:db8::1]/", "plain HTTP leaves the machine"),
            ("http://127.0.0.1@192.0.2.1/", "not an HTTP address"), ("file:///etc/hosts", "not an HTTP address"),
            ("gopher://127.0.0.1/", "not an HTTP address"), ("unix:/run/dbus", "not an HTTP address"),
            ("nonsense", "not an HTTP address"), ("https://", "not an HTTP address"),
        ])
    @ServiceActor
    func addresses(url: String, reason: String) async throws {
        let direct = try RealLookup()

        #expect(
            try await direct.answer(RequestLine(id: 1, request: RealLookup.request(url))) == .failed(reason: reason))
    }

    @Test(
        "input that is no request ends it, without an answer and without a crash",
        arguments: [
            "\n", "hello\n", "{\"version\":1}\n", "{\"version\":9,\"id\":1}\n", "\0\0\0\n",
            Sample(String(repeating: "[", count: 10_000) + "\n"),
            Sample(String(repeating: "x", count: LookupLimits.requestLine + 1)),
            "{\"version\":1,\"id\":1,\"url\":\"https://a\",\"user-agent\":\"a\\r\\nX: y\",\"body\":\"\"}\n",
        ] as [Sample])
    @ServiceActor
    func hostile(input: Sample) async throws {
        let direct = try RealLookup()

        direct.peer.send(input.text)

        #expect(await direct.peer.nextLine() == nil)
        #expect(await direct.exit() == .status(1))
    }

    @Test("two open requests with one id end it")
    @ServiceActor
    func sameID() async throws {
        let server = try LoopbackServer.tcp()
        let direct = try RealLookup()
        let line = try RequestLine(id: 1, request: RealLookup.request("http://\(server.address)/")).text()

        direct.peer.send(line + line)

        #expect(await direct.exit() == .status(1))
    }

    @Test("it runs with no new privileges, under a filter of system calls, without memory images")
    @ServiceActor
    func status() async throws {
        let server = try LoopbackServer.tcp()
        let direct = try RealLookup()
        try direct.send(to: "http://\(server.address)/")
        // Now it is past its beginning.
        _ = try await server.nextPeer()

        let status = try String(contentsOfFile: "/proc/\(direct.child.processID)/status", encoding: .utf8)
        let limits = try String(contentsOfFile: "/proc/\(direct.child.processID)/limits", encoding: .utf8)

        #expect(status.contains("NoNewPrivs:\t1\n"))
        #expect(status.contains("Seccomp:\t2\n"))
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    }

    // MARK: TLS

    /// An HTTPS server with a certificate of its own for `localhost`.
    @ServiceActor
    private struct SecureServer {
        nonisolated static let isPossible = ["/usr/bin/openssl", "/usr/bin/python3"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        let certificate: String
        let port: Int
        private let program: ChildProgram

        init(in folder: URL) async throws {
            certificate = folder.appending(path: "certificate").path
            let key = folder.appending(path: "key").path
            let maker = try ChildProgram(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out",
                    certificate,
                ])
            try #require(await maker.ended() == .status(0), "\(maker.errors.text)")
            program = try ChildProgram("/usr/bin/python3", ["-c", Self.text, certificate, key])
            port = try #require(Int(try await program.output.next()))
        }

        private static let text = """
            import http.server, ssl, sys
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["Content-Length"]))
                    self.send_response(200)
                    self.send_header("Content-Length", "4")
                    self.end_headers()
                    self.wfile.write(b"here")
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
    }

    @Test(
        "a certificate that nobody vouches for, or one for another name, is refused; one that is known is taken",
        .enabled(if: SecureServer.isPossible, "needs openssl and python3"))
    @ServiceActor
    func certificates() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await SecureServer(in: folder)
        let (stranger, friend) = (
            try RealLookup(), try RealLookup(environment: ["SSL_CERT_FILE=\(server.certificate)"])
        )
        let refusal = LookupOutcome.failed(reason: "SSL peer certificate or SSH remote key was not OK")
        func request(_ host: String) -> RequestLine {
            RequestLine(id: 1, request: RealLookup.request("https://\(host):\(server.port)/"))
        }

        #expect(try await stranger.answer(request("localhost")) == refusal)
        #expect(try await friend.answer(request("127.0.0.1")) == refusal)
        #expect(
            try await friend.answer(request("localhost")) == .answered(.init(status: 200, body: Array("here".utf8))))
    }
}
