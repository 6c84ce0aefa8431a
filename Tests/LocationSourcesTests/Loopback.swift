import EventLoop
import Glibc
import LocationTestSupport
@testable import LocationSources
import Testing

/// A server inside the test, on a Unix socket or a TCP port of its own, on the same loop as what it serves.
@ServiceActor
final class LoopbackServer {
    private(set) var address: StreamAddress
    private var descriptor: FileDescriptor?
    private var watch: Watch?
    private let peers: AsyncStream<LoopbackPeer>
    private let sink: AsyncStream<LoopbackPeer>.Continuation
    private(set) var accepted = 0

    /// A path that nothing listens on yet.
    static func freshPath() -> StreamAddress {
        .unix(path: TestFolder.unused("socket").path)
    }

    private let backlog: Int32

    init(_ address: StreamAddress = freshPath(), backlog: Int32 = 16) throws {
        self.address = address
        self.backlog = backlog
        (peers, sink) = AsyncStream.makeStream()
        try listen()
    }

    static func tcp(host: String = "127.0.0.1", backlog: Int32 = 16) throws -> LoopbackServer {
        try LoopbackServer(.tcp(host: host, port: 0), backlog: backlog)
    }

    /// The IPv6 loopback, on machines that have one.
    nonisolated static let sixes: [String] = {
        var addresses: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&addresses) == 0 else { return [] }
        defer { freeifaddrs(addresses) }
        let all = sequence(first: addresses) { $0?.pointee.ifa_next }.prefix { $0 != nil }
        let hasSix = all.contains { address in
            guard let entry = address?.pointee, let socketAddress = entry.ifa_addr else { return false }
            return socketAddress.pointee.sa_family == sa_family_t(AF_INET6) && String(cString: entry.ifa_name) == "lo"
        }
        return hasSix ? ["::1"] : []
    }()

    /// Accepts nobody any more, but goes on listening.
    func pause() {
        watch?.cancel()
        watch = nil
    }

    isolated deinit { stop() }

    func listen() throws {
        let family =
            if case .unix = address { AF_UNIX } else { address.description.hasPrefix("[") ? AF_INET6 : AF_INET }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = FileDescriptor(adopting: socket(family, type, 0))
        var yes: Int32 = 1
        setsockopt(descriptor.raw, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = address.withSocketAddress { bind(descriptor.raw, $0, $1) }
        try #require(bound == 0 && Glibc.listen(descriptor.raw, backlog) == 0)
        if case .tcp(let host, 0) = address {
            var name = sockaddr_in6()
            var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
            _ = withUnsafeMutableBytes(of: &name) {
                getsockname(descriptor.raw, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
            }
            // The port stands at the same place in both kinds of address.
            address = .tcp(host: host, port: UInt16(bigEndian: name.sin6_port))
        }
        self.descriptor = descriptor
        watch = Watch(descriptor, for: .readable) { [weak self] _ in self?.accept() }
    }

    func stop() {
        watch?.cancel()
        watch = nil
        descriptor = nil
        if case .unix(let path) = address { unlink(path) }
    }

    /// The next connection.
    func nextPeer() async throws -> LoopbackPeer {
        for await peer in peers { return peer }
        throw CancellationError()
    }

    private func accept() {
        guard let descriptor else { return }
        let raw = Glibc.accept(descriptor.raw, nil, nil)
        guard raw >= 0 else { return }
        // A program that a test beside this one starts would keep the connection open.
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        _ = fcntl(raw, F_SETFL, O_NONBLOCK)
        accepted += 1
        sink.yield(LoopbackPeer(FileDescriptor(adopting: raw)))
    }
}

/// One connection to a ``LoopbackServer``.
@ServiceActor
final class LoopbackPeer {
    private var descriptor: FileDescriptor?
    private var watch: Watch?
    private var pending: [UInt8] = []
    private let lines: AsyncStream<String>
    private let sink: AsyncStream<String>.Continuation
    private var received = ""

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        (lines, sink) = AsyncStream.makeStream()
        watch = Watch(descriptor, for: .readable) { [weak self] events in self?.isReady(events) }
    }

    isolated deinit { close() }

    /// Whether all that was sent is on its way.
    var isFlushed: Bool { pending.isEmpty }

    /// Whether the other side has read all that was sent, on a Unix socket.
    var isRead: Bool {
        var unread: Int32 = 0
        guard isFlushed, let descriptor, ioctl(descriptor.raw, UInt(TIOCOUTQ), &unread) == 0 else { return false }
        return unread == 0
    }

    /// Sends text, later where the socket is full.
    func send(_ text: String) {
        pending += Array(text.utf8)
        flush()
    }

    func close() {
        watch?.cancel()
        watch = nil
        descriptor = nil
        sink.finish()
    }

    /// The next line that the other side sends; `nil` once it has hung up.
    func nextLine() async -> String? {
        for await line in lines { return line }
        return nil
    }

    private func flush() {
        guard let descriptor, !pending.isEmpty else { return }
        let count = pending.withUnsafeBytes {
            Glibc.send(descriptor.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count > 0 { pending.removeFirst(count) }
        watch?.interest = pending.isEmpty ? .readable : [.readable, .writable]
    }

    private func isReady(_ events: Watch.Events) {
        flush()
        guard let descriptor, !events.isDisjoint(with: [.readable, .hangup, .error]) else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor.raw, &buffer, buffer.count)
        if count > 0 {
            received += String(decoding: buffer[..<count], as: UTF8.self)
            // CR LF is one character, but two scalars.
            while let end = received.unicodeScalars.firstIndex(of: "\n") {
                sink.yield(String(received[..<end]))
                received = String(received[received.unicodeScalars.index(after: end)...])
            }
        } else if count == 0 || errno != EAGAIN {
            close()
        }
    }
}
