import DBus
import EventLoop
import Foundation
import Testing

@testable import Authorization
@testable import LocationDaemon

/// What is read of a process, and that it is that process.
struct ProcessFactsTests {
    private static let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// A folder like `/proc` with one process.
    private func proc(
        _ process: Int = 42, started: Double = 100, command: String = "maps", cgroup: String = "0::/app.scope\n",
        status: Data = Data("Name:\tmaps\nNSpid:\t42\n".utf8)
    ) throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        let own = folder.url.appending(path: "\(process)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let fields = (3...21).map { _ in "0" }.joined(separator: " ")
        let stat = "\(process) (\(command)) \(fields) \(Int(started * Self.ticks)) 0 0\n"
        try Data(stat.utf8).write(to: own.appending(path: "stat"))
        try Data(cgroup.utf8).write(to: own.appending(path: "cgroup"))
        try Data("\(command)\n".utf8).write(to: own.appending(path: "comm"))
        try status.write(to: own.appending(path: "status"))
        return folder
    }

    private func facts(_ folder: TemporaryFolder, firstSeen: Double, process: UInt32 = 42) -> ProcessFacts {
        ProcessFacts(
            of: Credentials(userID: 1000, processID: process), firstSeen: .seconds(firstSeen), proc: folder.path)
    }

    @Test("a process that was there before its connection was seen is read")
    func known() throws {
        let folder = try proc()

        let facts = facts(folder, firstSeen: 100.01)

        #expect(facts.cgroup == "0::/app.scope\n")
        #expect(facts.command == "maps\n")
        #expect(facts.namespaceProcessIDs == "NSpid:\t42")
    }

    @Test(
        "a process that was started after its connection was seen bears the number of another one, and counts as unknown"
    )
    func reused() throws {
        let folder = try proc(started: 100)

        let facts = facts(folder, firstSeen: 99.5)

        #expect(facts == ProcessFacts(cgroup: nil, namespaceProcessIDs: nil))
        #expect(ProcessOrigin(facts) == .unknown)
    }

    @Test("what comes late in a long status is read, and a line without an end counts for nothing")
    func longStatus() throws {
        let groups = (0..<1000).map { "\(1_000_000_000 + $0)" }.joined(separator: " ")
        let whole = try proc(status: Data("Groups:\t\(groups)\nNSpid:\t42\t1\n".utf8))
        let torn = try proc(status: Data("Groups:\t\(groups)\nNSpid:\t42".utf8))

        #expect(facts(whole, firstSeen: 101).namespaceProcessIDs == "NSpid:\t42\t1")
        #expect(facts(torn, firstSeen: 101).namespaceProcessIDs == nil)
    }

    @Test("a process that is gone is unknown")
    func gone() throws {
        let folder = try proc()

        #expect(ProcessOrigin(facts(folder, firstSeen: 1000, process: 43)) == .unknown)
    }

    @Test(
        "a command that looks like the fields after it does not shift them",
        arguments: ["a) 0 0 0 (", ") S 1", "((", "a b c"])
    func forgedCommand(command: String) throws {
        let folder = try proc(started: 100, command: command)

        #expect(facts(folder, firstSeen: 99) == ProcessFacts(cgroup: nil, namespaceProcessIDs: nil))
        #expect(facts(folder, firstSeen: 101).cgroup != nil)
    }

    @Test("a process that names itself in bytes that are no text is read all the same, and what is no text is left out")
    func invalidText() throws {
        let folder = try proc(status: Data("Name:\t".utf8) + [0xFF, 0xFE] + Data("\nNSpid:\t42\n".utf8))
        try Data([0xFF, 0x0A]).write(to: folder.url.appending(path: "42/cgroup"))

        let facts = facts(folder, firstSeen: 1000)

        #expect(facts.namespaceProcessIDs == "NSpid:\t42")
        #expect(facts.cgroup == nil)
        #expect(ProcessOrigin(facts) == .unknown)
    }

    @Test("a descriptor of the process is what counts, and not its number")
    func descriptor() throws {
        let folder = try proc()
        let file = FileDescriptor(adopting: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let fdinfo = folder.url.appending(path: "self/fdinfo")
        try FileManager.default.createDirectory(at: fdinfo, withIntermediateDirectories: true)
        func facts(_ line: String) throws -> ProcessFacts {
            try Data("pos:\t0\nflags:\t02000002\n\(line)\n".utf8).write(to: fdinfo.appending(path: "\(file.raw)"))
            // Started later than the connection was seen, by the number alone.
            return ProcessFacts(
                of: Credentials(userID: 1000, processID: 7, process: UnixFD(file)), firstSeen: .seconds(1),
                proc: folder.path)
        }

        #expect(try facts("Pid:\t42").cgroup == "0::/app.scope\n")
        #expect(try facts("Pid:\t-1").cgroup == nil)
        #expect(try facts("Pid:\t0").cgroup == nil)
        #expect(try facts("NoPid:\t42").cgroup == nil)
    }

    @Test("the real files of this process are read")
    func real() {
        let facts = ProcessFacts(
            of: Credentials(userID: getuid(), processID: UInt32(getpid())), firstSeen: .seconds(1 << 40))

        #expect(facts.cgroup != nil)
        #expect(facts.namespaceProcessIDs?.hasPrefix("NSpid:") == true)
    }
}
