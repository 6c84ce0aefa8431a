import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LookupProcessTests {
    init() { EventLoop.startThread() }

    /// Tries what a process can do to another one of its user, and prints what it can.
    private static let intruder = """
        import ctypes, os, sys
        libc, process = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
        class Part(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
        class Ptrace(ctypes.Structure): pass
        def opens(name):
            try: os.close(os.open(f"/proc/{process}/{name}", os.O_RDONLY)); return True
            except OSError: return False
        room = ctypes.create_string_buffer(8)
        ours, theirs = Part(ctypes.addressof(room), 8), Part(0, 8)
        libc.process_vm_readv(process, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        can = []
        # Nothing is at address 0, which is the fault of one who may look.
        if ctypes.get_errno() == 14: can.append("read")
        if opens("mem"): can.append("mem")
        if opens("environ"): can.append("environ")
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        if libc.ptrace(0x4206, process, None, None) == 0: can.append("trace")
        print("can:", *can, flush=True)
        """

    /// Starts a program without privileges, so that root, too, is a user like any other.
    @ServiceActor
    private static func start(_ path: String, _ arguments: [String]) throws -> ChildProgram {
        let plain = getuid() == 0 ? ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--"] : []
        let command = plain + [path] + arguments
        return try ChildProgram(command[0], Array(command.dropFirst()))
    }

    /// What a process can do to `program` that has the same user and no privileges, as a lookup process has.
    @ServiceActor
    private static func abilities(against program: ChildProgram) async throws -> String {
        let intruder = try start("/usr/bin/python3", ["-c", intruder, String(program.processID)])
        return try await intruder.output.next(containing: "can:")
    }

    /// Where the kernel forbids it in any case (Documentation/admin-guide/LSM/Yama.rst), nothing can be shown.
    private static let mayTrace =
        (try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8))?.hasPrefix("0") ?? true

    @Test(
        "a process of the daemon's user can neither trace it nor read its memory, as it could with another one",
        .enabled(if: mayTrace, "needs a kernel that lets processes of one user trace each other"))
    @ServiceActor
    func hidden() async throws {
        let bus = try await PrivateBus()
        let configuration = bus.folder.appending(path: "whereabouts.conf")
        try RunningDaemon.configuration("", nmeaSocket: bus.folder.path + "/nmea").write(
            to: configuration, atomically: true, encoding: .utf8)
        let watcher = try bus.connect()
        let owners = Events<BusName>()
        let subscription = watcher.watchOwner(of: GeoClueNames.busName) { if let owner = $0 { owners.add(owner) } }
        try await watcher.settle()
        let daemon = try Self.start(
            RunningDaemon.executable,
            [
                "--bus", bus.addressText, "--config", configuration.path, "--timeout", "0", "--state-directory",
                bus.folder.path,
            ])
        let other = try Self.start("/bin/sh", ["-c", "echo ready; exec sleep 60"])
        _ = try await other.output.next()
        _ = try await owners.next()
        subscription.cancel()

        #expect(try await Self.abilities(against: daemon) == "can:")
        #expect(try await Self.abilities(against: other) == "can: read mem environ trace")
    }

    @Test("the programs have one version")
    @ServiceActor
    func version() async throws {
        let daemon = try ChildProgram(RunningDaemon.executable, ["--version"])
        let folder = URL(filePath: RunningDaemon.executable).deletingLastPathComponent()
        let lookup = try ChildProgram(folder.appending(path: "whereabouts-lookup").path, ["--version"])

        #expect(await daemon.output.wholeText() == (await lookup.output.wholeText()))
        #expect(await lookup.ended() == .status(0))
    }
}
