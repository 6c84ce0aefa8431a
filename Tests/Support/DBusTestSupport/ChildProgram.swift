import EventLoop
import Foundation

/// A program that a test runs, with what it prints. Killed with the last reference, and with the test run.
@ServiceActor
package final class ChildProgram {
    package enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    package nonisolated let processID: pid_t
    package let output: OutputLines
    package let errors: OutputLines

    private var exit: Exit?
    private var waiting: [CheckedContinuation<Exit, Never>] = []

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program, searched for in `PATH`.
    ///   - environment: added to what the tests themselves have.
    ///   - userID: the user that it becomes, where the tests run as root.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], as userID: UInt32? = nil
    ) throws {
        // The loop's thread is the parent, which lives as long as the process: the signal of its death ends the child.
        var command = ["setpriv", "--pdeathsig", "KILL"]
        if let userID { command += ["--reuid=\(userID)", "--regid=\(userID)", "--clear-groups"] }
        command += ["--", path] + arguments
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let (outputReader, outputWriter) = try Self.makePipe()
        let (errorReader, errorWriter) = try Self.makePipe()
        processID = try Self.spawn(command, variables, output: outputWriter.raw, errors: errorWriter.raw)
        output = OutputLines(outputReader)
        errors = OutputLines(errorReader)
        reap()
    }

    deinit { kill(processID, SIGKILL) }

    package func send(signal: Int32) {
        if exit == nil { kill(processID, signal) }
    }

    /// Waits until the program has ended.
    @discardableResult
    package func ended() async -> Exit {
        if let exit { return exit }
        return await withCheckedContinuation { waiting.append($0) }
    }

    package func stop() async {
        send(signal: SIGKILL)
        await ended()
    }

    private func reap() {
        let processID = processID
        Thread.detachNewThread { [weak self] in
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
            let exit: Exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
            Task { @ServiceActor in self?.finish(exit) }
        }
    }

    private func finish(_ exit: Exit) {
        self.exit = exit
        for continuation in waiting { continuation.resume(returning: exit) }
        waiting = []
    }

    private static func makePipe() throws -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
    }

    private static func spawn(
        _ command: [String], _ variables: [String], output: Int32, errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // The tests may have blocked or ignored signals that the program is to receive.
        var set = sigset_t()
        sigemptyset(&set)
        posix_spawnattr_setsigmask(&attributes, &set)
        sigaddset(&set, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &set)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        let arguments = command.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        var processID: pid_t = 0
        let status = posix_spawnp(&processID, command[0], &actions, &attributes, arguments, environment)
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: status) ?? .EIO) }
        return processID
    }
}
