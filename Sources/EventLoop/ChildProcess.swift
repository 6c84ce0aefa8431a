internal import CLinux
import Glibc

/// A program that this one has started, from its start until it has been reaped.
///
/// Followed by a descriptor of its own, so neither the signal of its end nor another's `wait` can get in the way. Goes
/// on running when let go; whoever wants it to end says so.
@ServiceActor
package final class ChildProcess {
    package enum Exit: Sendable, Equatable {
        case status(Int32)
        case signal(Int32)
    }

    package let processID: Int32
    /// How it ended, if it has.
    package private(set) var exit: Exit?
    /// Told once, unless the end has come before.
    package var onExit: (@ServiceActor (Exit) -> Void)?

    private let descriptor: FileDescriptor
    private var watch: Watch?

    /// A system call that failed with this `errno`.
    package struct Failure: Error, Equatable {
        package let code: Int32

        package init(code: Int32) { self.code = code }
    }

    /// Starts a program that has no descriptor of ours but standard error and `stream`, and whose folder is `/`.
    ///
    /// - Parameters:
    ///   - path: the program's file.
    ///   - environment: all the variables that it gets, as `NAME=value`.
    ///   - stream: becomes its standard input and output; stays the caller's.
    /// - Throws: ``Failure``, also where there is no such program.
    package init(
        _ path: String, arguments: [String] = [], environment: [String], stream: FileDescriptor
    ) throws(Failure) {
        processID = try Self.spawn([path] + arguments, environment, stream: stream.raw)
        // It cannot have been reaped, so the number is its own.
        descriptor = FileDescriptor(adopting: linux_pidfd_open(processID))
        guard descriptor.raw >= 0 else {
            let code = errno
            Glibc.kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
            throw Failure(code: code)
        }
        // Held by the loop until the process has ended: a zombie would stay otherwise.
        watch = Watch(descriptor, for: .readable) { [self] _ in reap() }
    }

    package func kill() {
        if exit == nil { Glibc.kill(processID, SIGKILL) }
    }

    private func reap() {
        var status: Int32 = 0
        guard waitpid(processID, &status, WNOHANG) == processID else { return }
        let exit: Exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
        self.exit = exit
        watch?.cancel()
        watch = nil
        let handler = onExit
        onExit = nil
        handler?(exit)
    }

    private static func spawn(_ command: [String], _ environment: [String], stream: Int32) throws(Failure) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, stream, 0)
        posix_spawn_file_actions_adddup2(&actions, stream, 1)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        posix_spawn_file_actions_addchdir_np(&actions, "/")
        // The service blocks and ignores signals, which the program is to receive.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            for pointer in arguments + variables { free(pointer) }
        }
        var processID: Int32 = 0
        let code = posix_spawn(&processID, command[0], &actions, &attributes, arguments, variables)
        guard code == 0 else { throw Failure(code: code) }
        return processID
    }
}
