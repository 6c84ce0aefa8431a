import Glibc
import Synchronization

/// Lines on standard error with the priority prefixes of systemd (sd-daemon(3)): `<4>text`.
///
/// Whoever handles an error logs it, once, with what was being attempted. Coordinates never appear here, and
/// application ids at debug level only.
package enum Log {
    package enum Level: Int, Sendable, Comparable {
        case error = 3, warning = 4, notice = 5, info = 6, debug = 7

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private static let threshold = Mutex(Level.info)

    /// The least urgent level that is written.
    package static var level: Level {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    package static func error(_ text: @autoclosure () -> String) { write(.error, text) }
    package static func warning(_ text: @autoclosure () -> String) { write(.warning, text) }
    package static func notice(_ text: @autoclosure () -> String) { write(.notice, text) }
    package static func info(_ text: @autoclosure () -> String) { write(.info, text) }
    package static func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

    private static func write(_ level: Level, _ text: () -> String) {
        guard level <= self.level else { return }
        // One line an entry, whatever a peer wrote into it: control characters would forge another one.
        var line = "<\(level.rawValue)>"
        line += text().withoutControls
        // What a pipe takes at once or not at all (pipe(7), PIPE_BUF).
        if line.utf8.count > 4000 { line = String(decoding: line.utf8.prefix(4000), as: UTF8.self) }
        line.append("\n")
        line.withUTF8(write)
    }

    /// A reader that does not read loses lines, rather than holding up the service.
    private static func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        // The journal is at the other end of a socket.
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        guard send(2, bytes.baseAddress, bytes.count, flags) < 0, errno == ENOTSOCK else { return }
        var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&target, 1, 0) == 1 else { return }
        _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    /// Standard error, opened anew so that writing never waits, whoever else writes there; the one that there is shares
    /// its flags with others. In a file writing does not wait, and all who write there share its end.
    private static let descriptor: Int32 = {
        var status = stat()
        if fstat(2, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return 2 }
        let own = open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC)
        return own >= 0 ? own : 2
    }()
}

extension String {
    /// The same with the replacement character for whatever would act on a terminal, or begin a line.
    package var withoutControls: String {
        var clean = ""
        for scalar in unicodeScalars {
            let category = scalar.properties.generalCategory
            let acts = [.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
            clean.unicodeScalars.append(acts ? "\u{FFFD}" : scalar)
        }
        return clean
    }
}
