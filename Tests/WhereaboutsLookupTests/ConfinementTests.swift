import Foundation
import Glibc
import Testing

@testable import WhereaboutsLookup

struct ConfinementTests {
    /// What each attempt came to: 0, or the system's reason.
    struct Attempts: Equatable {
        var readStore: Int32 = 0
        var listStore: Int32 = 0
        var writeStore: Int32 = 0
        var readHosts: Int32 = 0
        var readMemoryFile: Int32 = 0
        var readMemory: Int32 = 0
        var trace: Int32 = 0
        var signal: Int32 = 0
        var run: Int32 = 0
        var unixSocket: Int32 = 0
        var internetSocket: Int32 = 0
        var executableMemory: Int32 = 0
    }

    /// A store with one file in it, and a process of the same user.
    private final class Surroundings {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID())")
        let neighbour = Process()

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: folder.appending(path: "authorizations.db"))
            neighbour.executableURL = URL(filePath: "/bin/sleep")
            neighbour.arguments = ["60"]
            try neighbour.run()
        }

        deinit {
            kill(neighbour.processIdentifier, SIGKILL)
            try? FileManager.default.removeItem(at: folder)
        }

        /// Tries everything on a thread of its own, which is confined first or not.
        func attempts(confined: Bool) async throws -> (attempts: Attempts, faults: [String]) {
            let box = Box(store: folder.path, neighbour: neighbour.processIdentifier, confined: confined)
            // Threads that a confined one starts are so, too: it neither resumes nor wakes anything.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var thread = pthread_t()
                    pthread_create(
                        &thread, nil,
                        { box in
                            Unmanaged<Box>.fromOpaque(box!).takeUnretainedValue().run(); return nil
                        }, Unmanaged.passUnretained(box).toOpaque())
                    pthread_join(thread, nil)
                    continuation.resume()
                }
            }
            return (box.attempts, box.faults)
        }
    }

    private final class Box: @unchecked Sendable {
        private let store: String
        private let neighbour: pid_t
        private let confined: Bool
        var attempts = Attempts()
        var faults: [String] = []

        // Not imported, for their variable number of arguments or because they are extensions.
        private typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
        private let ptrace = unsafeBitCast(dlsym(nil, "ptrace"), to: Call.self)
        private let processVMRead = unsafeBitCast(dlsym(nil, "process_vm_readv"), to: Call.self)

        init(store: String, neighbour: pid_t, confined: Bool) {
            self.store = store
            self.neighbour = neighbour
            self.confined = confined
        }

        func run() {
            if confined { faults = Confinement.confineThread() }
            attempts.readStore = opening(store + "/authorizations.db", O_RDONLY)
            attempts.listStore = opening(store, O_RDONLY | O_DIRECTORY)
            attempts.writeStore = opening(store + "/new", O_WRONLY | O_CREAT)
            attempts.readHosts = opening("/etc/hosts", O_RDONLY)
            attempts.readMemoryFile = opening("/proc/\(neighbour)/mem", O_RDONLY)
            attempts.readMemory = failure(processVMRead(Int(neighbour), 0, 1, 0, 1, 0))
            attempts.signal = failure(Int(kill(neighbour, 0)))
            // PTRACE_SEIZE (linux/ptrace.h), which ends with this thread.
            attempts.trace = failure(ptrace(0x4206, Int(neighbour), 0, 0, 0, 0))
            attempts.run = failure(Int(execve("/nonexistent", [nil], [nil])))
            attempts.unixSocket = socket(AF_UNIX)
            attempts.internetSocket = socket(AF_INET6)
            let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            attempts.executableMemory = memory == MAP_FAILED ? errno : 0
        }

        private func opening(_ path: String, _ flags: Int32) -> Int32 {
            closing(open(path, flags | O_CLOEXEC, 0o600))
        }

        private func socket(_ family: Int32) -> Int32 {
            closing(Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        }

        private func closing(_ descriptor: Int32) -> Int32 {
            guard descriptor >= 0 else { return errno }
            close(descriptor)
            return 0
        }

        private func failure(_ result: Int) -> Int32 { result < 0 ? errno : 0 }
    }

    @Test("without confinement all that is tried here works, so that what follows shows something")
    func free() async throws {
        let surroundings = try Surroundings()

        let (attempts, _) = try await surroundings.attempts(confined: false)

        // Nothing is read at address 0, and there is no such program.
        var expected = Attempts()
        (expected.readMemory, expected.run) = (EFAULT, ENOENT)
        #expect(attempts == expected)
    }

    @Test("confined, it neither traces a process of its user, reads its memory nor signals it, and runs nothing")
    func peers() async throws {
        let surroundings = try Surroundings()

        let (attempts, faults) = try await surroundings.attempts(confined: true)

        #expect(faults == [])
        #expect(attempts.readMemory == ENOSYS)
        #expect(attempts.trace == ENOSYS)
        #expect(attempts.signal == ENOSYS)
        #expect(attempts.run == ENOSYS)
        #expect(attempts.unixSocket == ENOSYS)
        #expect(attempts.internetSocket == 0)
        #expect(attempts.executableMemory == ENOSYS)
        #expect(attempts.writeStore != 0)
    }

    @Test(
        "confined, it cannot read the store, nor memory by way of a file; what names are looked up in it can",
        .enabled(if: FileRules.isSupported, "needs a kernel with Landlock"))
    func files() async throws {
        let surroundings = try Surroundings()

        let (attempts, _) = try await surroundings.attempts(confined: true)

        #expect(attempts.readStore == EACCES)
        #expect(attempts.listStore == EACCES)
        #expect(attempts.readMemoryFile == EACCES)
        #expect(attempts.readHosts == 0)
    }
}
