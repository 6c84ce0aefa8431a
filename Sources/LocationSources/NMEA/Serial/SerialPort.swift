import EventLoop
import Glibc

/// A serial device that is read and never written to. The handler's ``Event/gone(_:)`` is the last event.
@ServiceActor
final class SerialPort {
    enum Event {
        /// Valid only until the handler returns.
        case received(UnsafeRawBufferPointer)
        /// The device has been unplugged, or reading fails otherwise.
        case gone(Problem)
    }

    enum Problem: Error, Equatable, Sendable {
        /// A system call failed with this `errno`.
        case failed(Int32)
        case notSerial
        case hungUp
        /// A speed in bits a second that the port does not know.
        case noSuchSpeed(Int)
    }

    private let handler: @ServiceActor (Event) -> Void
    private let descriptor: FileDescriptor
    /// Receivers of the kernel's GNSS subsystem have no speed.
    private let hasSpeed: Bool
    private var watch: Watch?

    /// What is read at once, and at most four times before others get their turn.
    private static let chunk = 4096

    /// Opens a port at a speed in bits a second, without waiting for a carrier and without becoming its terminal's owner.
    ///
    /// - Throws: ``Problem``.
    init(_ path: String, speed: Int, handler: @escaping @ServiceActor (Event) -> Void) throws(Problem) {
        self.handler = handler
        descriptor = FileDescriptor(adopting: open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC))
        guard descriptor.raw >= 0 else { throw .failed(errno) }
        hasSpeed = isatty(descriptor.raw) == 1
        guard hasSpeed || Self.isGNSS(path) else { throw .notSerial }
        try setSpeed(speed)
        watch = Watch(descriptor, for: .readable) { [weak self] _ in self?.isReady() }
    }

    isolated deinit { watch?.cancel() }

    /// Whether `path`, or what it is a link to, is a receiver of the kernel's GNSS subsystem: `gnss0`, `gnss1` …
    static func isGNSS(_ path: String, in folder: String = "/dev") -> Bool {
        guard let real = realpath(path, nil) else { return false }
        defer { free(real) }
        return String(cString: real).hasPrefix("\(folder)/gnss")
    }

    func close() {
        watch?.cancel()
        watch = nil
    }

    /// Goes on at another speed. What has come at the old one and was not read is dropped.
    func setSpeed(_ speed: Int) throws(Problem) {
        guard hasSpeed else { return }
        guard let code = Self.codes[speed] else { throw .noSuchSpeed(speed) }
        var settings = termios()
        guard tcgetattr(descriptor.raw, &settings) == 0 else { throw .failed(errno) }
        cfmakeraw(&settings)
        // Modem lines say nothing about a receiver; without CREAD nothing is received.
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        cfsetspeed(&settings, speed_t(code))
        guard tcsetattr(descriptor.raw, TCSANOW, &settings) == 0 else { throw .failed(errno) }
        tcflush(descriptor.raw, TCIFLUSH)
    }

    private static let codes: [Int: Int32] = [
        4800: B4800, 9600: B9600, 19200: B19200, 38400: B38400, 57600: B57600, 115_200: B115200, 230_400: B230400,
        460_800: B460800, 921_600: B921600,
    ]

    private func isReady() {
        for _ in 0..<4 where watch != nil {
            guard readOnce() else { return }
        }
    }

    /// - Returns: whether there may be more to read.
    private func readOnce() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 1) { buffer in
            let count = read(descriptor.raw, buffer.baseAddress, buffer.count)
            if count > 0 {
                handler(.received(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                return count == buffer.count
            }
            if count == 0 {
                end(.hungUp)
            } else if errno != EAGAIN && errno != EINTR {
                end(errno == EIO ? .hungUp : .failed(errno))
            }
            return false
        }
    }

    private func end(_ problem: Problem) {
        close()
        handler(.gone(problem))
    }
}

extension SerialPort.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .failed(let code): String(cString: strerror(code))
        case .notSerial: "not a serial port"
        case .hungUp: "unplugged"
        case .noSuchSpeed(let speed): "the port does not know \(speed) bits a second"
        }
    }
}
