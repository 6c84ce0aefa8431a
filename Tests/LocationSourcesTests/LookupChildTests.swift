import EventLoop
import Foundation
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// The daemon's side, with programs of the test as its child.
@Suite(.timeLimit(.minutes(1)))
struct LookupChildTests {
    init() { EventLoop.startThread() }

    private static let request = LookupRequest(url: "https://a.test/", userAgent: "test/1", body: Array("{}".utf8))

    /// A script in a folder of its own, which it may write to as `$0.…`.
    private final class Script: Sendable {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID())")

        init(_ text: String) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try text.write(to: folder.appending(path: "lookup"), atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }

        /// A child that tells its number, and then does as `command` says.
        convenience init(child command: String) throws {
            try self.init("#!/bin/sh\necho $$ >>\"$0.pid\"\n\(command)\n")
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var path: String { folder.appending(path: "lookup").path }

        /// The lines that it has written to `$0.NAME` so far.
        func lines(of name: String) -> [String] {
            let text = (try? String(contentsOfFile: "\(path).\(name)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }

        /// How many children have told their number.
        var children: Int { lines(of: "pid").count }

        /// The last child that says so has ended, and has been reaped.
        func isReaped() -> Bool {
            guard let process = lines(of: "pid").last.flatMap({ Int32($0) }) else { return false }
            return kill(process, 0) < 0 && errno == ESRCH
        }
    }

    /// A child of the daemon that tells its number, and then does as the shell's `command` says.
    @ServiceActor
    private struct Bench {
        let clock = ManualClock()
        let script: Script
        let lookup: LookupProcess

        init(_ command: String) throws {
            script = try Script(child: command)
            lookup = LookupProcess(socket: nil, program: script.path, clock: clock)
        }

        func ask() -> Task<LookupOutcome, Never> {
            ServiceActor.task { [lookup] in await lookup.send(LookupChildTests.request) }
        }

        /// Asks, and comes back when the child that is to answer runs.
        func askChild() async -> Task<LookupOutcome, Never> {
            let children = script.children
            let call = ask()
            await until { script.children == children + 1 }
            return call
        }
    }

    @Test(
        "a child has no descriptor, variable or folder that it does not need", arguments: [nil, "/nonexistent/socket"])
    @ServiceActor
    func surroundings(socket: String?) async throws {
        let script = try Script(
            """
            #!/usr/bin/python3 -I
            import fcntl, json, os, sys
            def is_open(number):
                try: return fcntl.fcntl(number, fcntl.F_GETFD) >= 0
                except OSError: return False
            request = json.loads(sys.stdin.readline())
            found = {"open": [number for number in range(3, 4096) if is_open(number)], "folder": os.getcwd(),
                     "names": [name for name in os.environ if "proxy" not in name.lower() and name != "LC_CTYPE"]}
            print(json.dumps({"version": 1, "id": request["id"], "status": 200, "body": json.dumps(found)}), flush=True)
            sys.stdin.readline()
            """)
        let leaked = open("/dev/null", O_RDONLY)
        defer { close(leaked) }
        let lookup = LookupProcess(socket: socket, program: script.path, clock: ManualClock())

        let outcome = await lookup.send(Self.request)

        guard case .answered(let response) = outcome else { throw Unexpected(outcome: outcome) }
        let found = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: NSObject])
        #expect(found["open"] == [Int]() as NSArray)
        #expect(found["names"] == (getenv("SSL_CERT_FILE") == nil ? [] : ["SSL_CERT_FILE"]) as NSArray)
        #expect(found["folder"] == "/" as NSString)
    }

    private struct Unexpected: Error { let outcome: LookupOutcome }

    @Test("a child that hangs is killed and reaped, and the next request gets a new one after the wait")
    @ServiceActor
    func hung() async throws {
        let bench = try Bench("exec sleep 1000")
        let call = await bench.askChild()

        await bench.clock.advance(by: .seconds(12))

        #expect(await call.value == .failed(reason: "the lookup process hangs"))
        await until { bench.script.isReaped() }
        await bench.clock.advance(by: .seconds(1))
        let next = await bench.askChild()
        await bench.clock.advance(by: .seconds(12))
        _ = await next.value
        await until { bench.script.isReaped() }
    }

    @Test("the end of the service is that of a child that hangs, and of its requests")
    @ServiceActor
    func end() async throws {
        let bench = try Bench("exec sleep 1000")
        let call = await bench.askChild()

        bench.lookup.end()

        #expect(await call.value == .failed(reason: "the service ends"))
        await until { bench.script.isReaped() }
    }

    @Test("a child that does not leave when it is no longer wanted is killed two seconds later")
    @ServiceActor
    func stubborn() async throws {
        let bench = try Bench("exec sleep 1000")
        let call = await bench.askChild()

        call.cancel()
        _ = await call.value
        #expect(bench.clock.hasTimer(in: .seconds(2)) && !bench.script.isReaped())
        await bench.clock.advance(by: .seconds(2))

        await until { bench.script.isReaped() }
    }

    @Test("a child that leaves by itself when it is hung up on is reaped, and nothing is left to be done")
    @ServiceActor
    func obedient() async throws {
        let bench = try Bench("cat >/dev/null")
        let call = await bench.askChild()

        call.cancel()
        _ = await call.value

        await until { bench.script.isReaped() && bench.clock.pendingTimers == 0 }
    }

    @Test("a child that crashes fails its request, is reaped, and is not started again before the wait is over")
    @ServiceActor
    func crashed() async throws {
        let bench = try Bench("read request; kill -SEGV $$")

        #expect(await bench.ask().value == .failed(reason: "the lookup process has ended"))
        await until { bench.script.isReaped() }
        #expect(await bench.ask().value == .failed(reason: "the lookup process has failed, and rests"))
        await bench.clock.advance(by: .seconds(1))
        #expect(await bench.ask().value == .failed(reason: "the lookup process has ended"))

        #expect(bench.script.children == 2)
    }

    @Test("a program that cannot be started fails the request, and is tried again after the wait only")
    @ServiceActor
    func noProgram() async {
        let clock = ManualClock()
        let lookup = LookupProcess(socket: nil, program: "/nonexistent/lookup", clock: clock)
        let reason = "cannot start /nonexistent/lookup: No such file or directory"

        #expect(await lookup.send(Self.request) == .failed(reason: reason))
        #expect(await lookup.send(Self.request) == .failed(reason: "the lookup process has failed, and rests"))
        await clock.advance(by: .seconds(1))
        #expect(await lookup.send(Self.request) == .failed(reason: reason))
    }

    @Test("where the system's socket is there, no child is started")
    @ServiceActor
    func socketFirst() async throws {
        let script = try Script(child: "")
        let server = try LoopbackServer()
        let lookup = LookupProcess(socket: server.address.description, program: script.path, clock: ManualClock())

        let call = ServiceActor.task { await lookup.send(Self.request) }
        let peer = try await server.nextPeer()
        let line = try #require(await peer.nextLine())
        let outcome = LookupOutcome.answered(.init(status: 200, body: []))
        peer.send(try AnswerLine(id: RequestLine(reading: Array(line.utf8)).id, outcome: outcome).text())

        #expect(await call.value == outcome)
        #expect(script.children == 0)
    }
}
