import Authorization
import DBus
import EventLoop
import Glibc

extension ProcessFacts {
    /// Reads what any user may read of the process behind a connection. What cannot be read is left out, and so is
    /// everything where it may have been another process that was read.
    ///
    /// - Parameters:
    ///   - firstSeen: when the connection was known to be there, on the clock that counts from boot. A process that was
    ///     started later than that is not the one that connected: the kernel gives numbers again.
    ///   - proc: where the kernel shows its processes.
    init(of credentials: Credentials, firstSeen: Duration, proc: String = "/proc") {
        self.init(cgroup: nil, namespaceProcessIDs: nil, securityLabel: credentials.securityLabel)
        if let descriptor = credentials.process {
            // The number that the descriptor has here stays the process's as long as it lives.
            guard let process = Self.process(of: descriptor, proc) else { return }
            let facts = Self(process: process, securityLabel: credentials.securityLabel, proc)
            if Self.process(of: descriptor, proc) == process { self = facts }
        } else if let process = credentials.processID {
            guard let start = Self.startTime(of: process, proc), start <= firstSeen else { return }
            let facts = Self(process: process, securityLabel: credentials.securityLabel, proc)
            if Self.startTime(of: process, proc) == start { self = facts }
        }
    }

    private init(process: UInt32, securityLabel: String?, _ proc: String) {
        let status = Self.contents(of: "\(proc)/\(process)/status")
        self.init(
            cgroup: Self.text(of: "\(proc)/\(process)/cgroup"),
            namespaceProcessIDs: status?.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .dropLast().first { $0.starts(with: "NSpid:".utf8) }
                .flatMap { String(validating: $0, as: UTF8.self) },
            command: Self.text(of: "\(proc)/\(process)/comm"), securityLabel: securityLabel)
    }

    /// The number of the process that a descriptor stands for (pidfd_open(2), “Pid” in `fdinfo`).
    ///
    /// - Returns: `nil` if the process has ended, or is not in our namespace.
    private static func process(of descriptor: UnixFD, _ proc: String) -> UInt32? {
        guard let info = text(of: "\(proc)/self/fdinfo/\(descriptor.descriptor.raw)") else { return nil }
        let line = info.split(separator: "\n").first { $0.hasPrefix("Pid:") }
        return line.flatMap { UInt32($0.dropFirst(4).drop { $0.isWhitespace }) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// When a process was started, after boot (proc_pid_stat(5), field 22), rounded down to a tick of the kernel's.
    private static func startTime(of process: UInt32, _ proc: String) -> Duration? {
        // The second field is the command in parentheses, which may hold anything, parentheses too.
        guard let bytes = contents(of: "\(proc)/\(process)/stat"), let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 19, let ticks = Int64(String(decoding: fields[19], as: UTF8.self)) else { return nil }
        let perSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return .seconds(ticks / perSecond) + .milliseconds(ticks % perSecond * 1000 / perSecond)
    }

    private static func text(of path: String) -> String? {
        contents(of: path).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A process may be in 65 536 groups, which its status lists (setgroups(2)).
    private static let longestFile = 1 << 20

    /// A file of the kernel's, which never makes a reader wait. `nil` for an empty file, too.
    private static func contents(of path: String) -> [UInt8]? {
        let descriptor = FileDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
        guard descriptor.raw >= 0 else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < longestFile {
            let more = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = max(0, read(descriptor.raw, buffer.baseAddress, buffer.count))
            }
            if more.isEmpty { return bytes.isEmpty ? nil : bytes }
            bytes += more
        }
        return nil
    }
}
