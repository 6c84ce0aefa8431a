import Glibc

/// An open file descriptor, closed with the last reference to it.
package final class FileDescriptor: Sendable {
    package let raw: Int32

    /// Takes over a descriptor that the caller owns. A negative number, as failed calls return, is never closed.
    package init(adopting raw: Int32) { self.raw = raw }

    /// Duplicates a descriptor that stays the caller's, with close-on-exec set.
    ///
    /// - Returns: `nil` if the process has no descriptor left.
    package convenience init?(duplicating raw: Int32) {
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        self.init(adopting: copy)
    }

    deinit { if raw >= 0 { close(raw) } }

    /// Reads the eight bytes of an eventfd or timerfd.
    func readCounter() -> UInt64 {
        var count: UInt64 = 0
        return read(raw, &count, MemoryLayout<UInt64>.size) == MemoryLayout<UInt64>.size ? count : 0
    }
}
