import EventLoop
import Foundation

/// A port of this machine that takes note of whoever connects, and says nothing.
@ServiceActor
final class Doorbell {
    let address: String

    private let listener: FileDescriptor
    private var watch: Watch?
    private var visitors: [FileDescriptor] = []
    private var waiting: CheckedContinuation<Void, Never>?

    init() throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        listener = FileDescriptor(adopting: socket(AF_INET, type, 0))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = listener.raw
        let status = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, size) == 0 && listen(raw, 8) == 0 && getsockname(raw, $0, &size) == 0
            }
        }
        guard status else { throw POSIXError(.EADDRINUSE) }
        address = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
        watch = Watch(listener, for: .readable) { [weak self] _ in self?.accept() }
    }

    isolated deinit { watch?.cancel() }

    /// Whether anybody has connected: true from the other side's `connect` on, whatever this program has had time for.
    var hasRung: Bool {
        accept()
        return !visitors.isEmpty
    }

    /// Comes back once somebody has connected.
    func rung() async {
        if !hasRung { await withCheckedContinuation { waiting = $0 } }
    }

    private func accept() {
        let visitor = Glibc.accept(listener.raw, nil, nil)
        guard visitor >= 0 else { return }
        _ = fcntl(visitor, F_SETFD, FD_CLOEXEC)
        visitors.append(FileDescriptor(adopting: visitor))
        waiting?.resume()
        waiting = nil
    }
}
