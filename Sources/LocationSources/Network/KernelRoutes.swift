internal import CNetlink
import EventLoop
import Glibc

/// Knows which way packets go, and says when that may have changed.
@ServiceActor
protocol RouteFollowing: AnyObject {
    var onChange: (@ServiceActor () -> Void)? { get set }

    /// - Returns: `nil` where that cannot be known.
    func look() -> RouteState?
}

/// The kernel's own word, over rtnetlink(7).
///
/// Which way is in use is asked for one address in the middle of the internet rather than read from the tables: that
/// counts in rules, metrics and halves of the default route, by which VPNs put themselves before it. What the kernel
/// says by itself is only a reason to ask again.
@ServiceActor
final class KernelRoutes: RouteFollowing {
    var onChange: (@ServiceActor () -> Void)?

    private var listening: FileDescriptor?
    private var watch: Watch?
    private var sequence: UInt32 = 0

    /// a.root-servers.net, which no network has for itself. Nothing is ever sent there.
    private static let destinations: [(family: Int32, address: [UInt8])] = [
        (AF_INET, [198, 41, 0, 4]),
        (AF_INET6, [0x20, 0x01, 0x05, 0x03, 0xBA, 0x3E, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0x30]),
    ]

    private static let groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_RULE)

    /// Larger than any message about one link.
    private static let bufferSize = 65536

    init() {
        guard let descriptor = Self.open(groups: Self.groups) else {
            Log.notice("cannot follow the network's routes: \(String(cString: strerror(errno)))")
            return
        }
        listening = descriptor
        watch = Watch(descriptor, for: .readable) { [weak self] _ in self?.isReady() }
    }

    isolated deinit { watch?.cancel() }

    private static func open(groups: UInt32) -> FileDescriptor? {
        let type = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = FileDescriptor(adopting: socket(AF_NETLINK, type, NETLINK_ROUTE))
        guard descriptor.raw >= 0 else { return nil }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = groups
        let status = withUnsafeBytes(of: &address) {
            bind(descriptor.raw, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count))
        }
        return status == 0 ? descriptor : nil
    }

    private func isReady() {
        guard let listening else { return }
        // What they say does not matter, nor does what is lost where more come than are read.
        var isOpen = true
        for _ in 0..<64 {
            var byte: UInt8 = 0
            guard recv(listening.raw, &byte, 1, 0) < 0 else { continue }
            isOpen = errno == EAGAIN || errno == ENOBUFS || errno == EINTR
            break
        }
        if !isOpen {
            Log.warning("the kernel no longer tells of routes: \(String(cString: strerror(errno)))")
            watch?.cancel()
            (watch, self.listening) = (nil, nil)
        }
        onChange?()
    }

    /// What is waiting on a socket, if the kernel has sent it.
    private static func receive(from descriptor: FileDescriptor) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: bufferSize, alignment: 8) { buffer in
            var sender = sockaddr_nl()
            var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
            let count = withUnsafeMutableBytes(of: &sender) {
                recvfrom(
                    descriptor.raw, buffer.baseAddress, buffer.count, 0,
                    $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
            }
            guard count >= 0 else { return nil }
            return sender.nl_pid == 0 ? Array(buffer.prefix(count)) : []
        }
    }

    // MARK: Asking

    /// The kernel does not say.
    private struct Unanswered: Error {}

    func look() -> RouteState? {
        guard let descriptor = Self.open(groups: 0) else { return nil }
        do throws(Unanswered) {
            var state = RouteState()
            for (family, destination) in Self.destinations {
                if let way = try way(to: destination, family, over: descriptor) { state.ways.append(way) }
            }
            return state
        } catch {
            return nil
        }
    }

    private func way(
        to destination: [UInt8], _ family: Int32, over descriptor: FileDescriptor
    ) throws(Unanswered) -> RouteState.Way? {
        guard let answer = try route(to: destination, family, over: descriptor),
            let link = try link(answer.linkIndex, over: descriptor), link.isRunning, link.kind != .loopback
        else { return nil }
        return RouteState.Way(gateway: answer.gateway, link: link)
    }

    private func route(
        to destination: [UInt8], _ family: Int32, over descriptor: FileDescriptor
    ) throws(Unanswered) -> RouteAnswer? {
        var header = [UInt8](repeating: 0, count: MemoryLayout<rtmsg>.size)
        header[0] = UInt8(family)
        header[1] = UInt8(destination.count * 8)
        let request = { (sequence: UInt32) in
            NetlinkMessage.request(
                Int(RTM_GETROUTE), sequence: sequence, header: header, attributes: [(RTA_DST.rawValue, destination)])
        }
        do throws(Unanswered) {
            return try ask(request, over: descriptor).flatMap { RouteAnswer($0) }
        } catch {
            // A kernel may be without IPv6, and knows no such question then.
            if family == AF_INET6 { return nil }
            throw error
        }
    }

    private func link(_ index: UInt32, over descriptor: FileDescriptor) throws(Unanswered) -> NetworkLink? {
        var header = [UInt8](repeating: 0, count: MemoryLayout<ifinfomsg>.size)
        header.replaceSubrange(4..<8, with: index.bytes)
        let request = { NetlinkMessage.request(Int(RTM_GETLINK), sequence: $0, header: header) }
        return try ask(request, over: descriptor).flatMap { NetworkLink($0) }
    }

    /// Asks one question, to which the kernel has the answer ready when it takes the question.
    ///
    /// - Returns: `nil` where the answer is that there is nothing of the kind.
    private func ask(
        _ request: (UInt32) -> [UInt8], over descriptor: FileDescriptor
    ) throws(Unanswered) -> NetlinkMessage? {
        sequence &+= 1
        let bytes = request(sequence)
        guard bytes.withUnsafeBytes({ send(descriptor.raw, $0.baseAddress, $0.count, 0) }) == bytes.count else {
            throw Unanswered()
        }
        for _ in 0..<16 {
            guard let received = Self.receive(from: descriptor) else { throw Unanswered() }
            guard let answer = NetlinkMessage.parse(received).first(where: { $0.sequence == sequence }) else {
                continue
            }
            guard answer.type == UInt16(NLMSG_ERROR) else { return answer }
            // Not every kernel, nor what stands in for one, knows the question.
            let code = -(answer.payload.integer(Int32.self, at: 0) ?? 0)
            if code == EOPNOTSUPP || code == EPERM { throw Unanswered() }
            return nil
        }
        throw Unanswered()
    }
}
