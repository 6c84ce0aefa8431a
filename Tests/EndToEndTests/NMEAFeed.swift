import EventLoop
import Foundation

/// A receiver on a Unix socket, whose sentences the test writes.
@ServiceActor
final class NMEAFeed {
    nonisolated let path: String

    private let listener: FileDescriptor
    private var watch: Watch?
    private var readers: [FileDescriptor] = []
    private var waiting: CheckedContinuation<Void, Never>?

    init(in folder: URL) throws {
        path = folder.appending(path: "nmea").path
        listener = FileDescriptor(adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(listener.raw, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        _ = chmod(path, 0o666)
        _ = fcntl(listener.raw, F_SETFD, FD_CLOEXEC)
        watch = Watch(listener, for: .readable) { [weak self] _ in self?.accept() }
    }

    isolated deinit { watch?.cancel() }

    /// Whether anybody has connected, whatever this program has had time for.
    var hasReaders: Bool {
        var request = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        return !readers.isEmpty || poll(&request, 1, 0) > 0
    }

    /// Comes back once somebody reads.
    func connected() async {
        if readers.isEmpty { await withCheckedContinuation { waiting = $0 } }
    }

    /// Writes one position as a receiver does, now.
    func send(latitude: Double, longitude: Double) {
        let time = Self.formatter("HHmmss.SS").string(from: Date())
        let date = Self.formatter("ddMMyy").string(from: Date())
        let position =
            "\(Self.angle(latitude, digits: 2)),\(latitude < 0 ? "S" : "N"),"
            + "\(Self.angle(longitude, digits: 3)),\(longitude < 0 ? "W" : "E")"
        write(Self.sentence("GPRMC,\(time),A,\(position),0.5,84.4,\(date),,,A"))
        write(Self.sentence("GPGGA,\(time),\(position),1,08,0.9,545.4,M,46.9,M,,"))
    }

    /// Writes bytes as they are, and comes back when they have been read.
    func send(_ bytes: [UInt8]) async {
        for reader in readers {
            _ = bytes.withUnsafeBytes { Glibc.send(reader.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        await read()
    }

    /// Comes back when everything that was written has been read.
    func read() async {
        for reader in readers {
            var unread: Int32 = 0
            while ioctl(reader.raw, UInt(TIOCOUTQ), &unread) == 0, unread > 0 { await Task.yield() }
        }
    }

    private func accept() {
        let descriptor = Glibc.accept(listener.raw, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        readers.append(FileDescriptor(adopting: descriptor))
        waiting?.resume()
        waiting = nil
    }

    /// Writes what a reader takes at once; the loop waits for none.
    private func write(_ text: String) {
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        for reader in readers { _ = text.withCString { Glibc.send(reader.raw, $0, strlen($0), flags) } }
    }

    private static func sentence(_ body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        return "$\(body)*\(String(format: "%02X", sum))\r\n"
    }

    private static func angle(_ degrees: Double, digits: Int) -> String {
        let whole = Int(abs(degrees))
        return String(format: "%0\(digits)d%09.6f", whole, (abs(degrees) - Double(whole)) * 60)
    }

    private static func formatter(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = format
        return formatter
    }
}
