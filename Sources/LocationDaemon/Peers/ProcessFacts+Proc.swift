import Authorization
import DBus
import EventLoop
import Glibc

extension ProcessFacts {
    /// Reads what any user may read of the process behind a connection. What cannot be read is left out.
    init(of credentials: Credentials) {
        guard let process = credentials.processID else {
            self.init(cgroup: nil, namespaceProcessIDs: nil, securityLabel: credentials.securityLabel)
            return
        }
        let status = Self.contents(of: "/proc/\(process)/status")?.utf8
        self.init(
            cgroup: Self.contents(of: "/proc/\(process)/cgroup"),
            namespaceProcessIDs: status?.split(separator: UInt8(ascii: "\n")).first {
                $0.starts(with: "NSpid:".utf8)
            }.flatMap { String($0) },
            command: Self.contents(of: "/proc/\(process)/comm"), securityLabel: credentials.securityLabel)
    }

    /// The text of a file of the kernel's, which never makes a reader wait.
    private static func contents(of path: String) -> String? {
        let descriptor = FileDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
        guard descriptor.raw >= 0 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(descriptor.raw, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            return String(validating: buffer[..<count], as: UTF8.self)
        }
    }
}
