import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ChildProcessTests {
    init() { EventLoop.startThread() }

    /// Runs `text` in a shell, with the other end of its standard input and output.
    @ServiceActor
    private func run(_ text: String, environment: [String] = []) throws -> (ChildProcess, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (ours, theirs) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
        let child = try ChildProcess("/bin/sh", arguments: ["-c", text], environment: environment, stream: theirs)
        return (child, ours)
    }

    /// Off the loop, which has to be free to reap it.
    private static nonisolated func isGone(_ processID: Int32) async -> Bool {
        while kill(processID, 0) == 0 && !Task.isCancelled { await Task.yield() }
        return kill(processID, 0) < 0 && errno == ESRCH
    }

    @ServiceActor
    private func end(of child: ChildProcess) async -> ChildProcess.Exit {
        if let exit = child.exit { return exit }
        return await withCheckedContinuation { continuation in child.onExit = { continuation.resume(returning: $0) } }
    }

    @Test(
        "the end of a program is told as it was, and nothing of it remains",
        arguments: [("exit 0", ChildProcess.Exit.status(0)), ("exit 7", .status(7)), ("kill -9 $$", .signal(SIGKILL))])
    @ServiceActor
    func ends(text: String, exit: ChildProcess.Exit) async throws {
        let (child, _) = try run(text)

        #expect(await end(of: child) == exit)
        #expect(child.exit == exit)
        #expect(kill(child.processID, 0) == -1 && errno == ESRCH)
        // The number may be another's by now.
        child.kill()
    }

    @Test("a program that is killed has ended by that, however little it listens")
    @ServiceActor
    func killed() async throws {
        let (child, stream) = try run("trap '' TERM INT HUP; echo ready; read line")
        var byte: UInt8 = 0
        #expect(read(stream.raw, &byte, 1) == 1)

        child.kill()

        #expect(await end(of: child) == .signal(SIGKILL))
    }

    @Test("a program that nobody holds any more is reaped all the same")
    @ServiceActor
    func letGo() async throws {
        let (processID, stream) = try { () throws -> (Int32, FileDescriptor) in
            let (child, stream) = try run("read line")
            return (child.processID, stream)
        }()

        shutdown(stream.raw, Int32(SHUT_RDWR))

        #expect(await Self.isGone(processID))
    }

    @Test("signals that the service ignores or blocks reach the program, and its environment is what it is given")
    @ServiceActor
    func surroundings() async throws {
        var before = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        let (child, _) = try run(
            "test \"$NAME\" = value && test -z \"$HOME\" && kill -TERM $$", environment: ["NAME=value"])
        pthread_sigmask(SIG_SETMASK, &before, nil)

        #expect(await end(of: child) == .signal(SIGTERM))
    }

    @Test("a program that is not there is a failure with the system's reason")
    @ServiceActor
    func missing() {
        #expect(throws: ChildProcess.Failure(code: ENOENT)) {
            try ChildProcess("/nonexistent", environment: [], stream: FileDescriptor(adopting: dup(0)))
        }
    }
}
