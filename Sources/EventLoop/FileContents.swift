import Glibc

/// Reads files that others write, without waiting for anybody: regular files only, and only up to a size.
package enum FileContents {
    /// Why a file was not read.
    package enum Problem: Error, Equatable, Sendable {
        /// A system call failed with this `errno`.
        case failed(Int32)
        case notRegular
        /// In bytes.
        case tooLarge(limit: Int)
    }

    /// - Throws: ``Problem``.
    package static func read(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
        // A pipe would otherwise hold up whoever opens it, and a terminal might become ours.
        let descriptor = FileDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
        guard descriptor.raw >= 0 else { throw .failed(errno) }
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { throw .failed(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_size <= limit else { throw .tooLarge(limit: limit) }
        // One byte more tells of a file that has grown in the meantime.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor.raw, $0.baseAddress! + count, $0.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw .failed(errno) }
            if got == 0 { break }
            count += got
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

extension FileContents.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .failed(let code): String(cString: strerror(code))
        case .notRegular: "not a regular file"
        case .tooLarge(let limit): "larger than \(limit) bytes"
        }
    }
}
