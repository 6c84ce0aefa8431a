internal import CCurl
import Glibc
import LookupProtocol

/// The program's loop: takes requests from peers, has libcurl send them, and hands back the answers.
final class Service {
    /// What the environment says of the passed socket cannot be.
    struct NoSocket: Error, CustomStringConvertible {
        var description: String { "what systemd has passed is not one socket that listens" }
    }

    private static let mostPeers = 4
    /// How long a peer may say nothing before it is let go, in seconds. The daemon lets go earlier.
    private static let silence = 60
    /// How long the process outlives its last connection, in seconds: one that comes soon finds it ready.
    private static let linger = 3
    /// How long one turn of the loop may take before the kernel ends the process, in seconds. All of libcurl's waiting
    /// is done by `poll`, for this reason.
    private static let hangLimit: UInt32 = 30

    /// `nil` for the one peer on standard input and output.
    private let listener: Int32?
    private let multi: UnsafeMutableRawPointer
    private var peers: [Peer] = []
    private var transfers: [UnsafeMutableRawPointer: (transfer: Transfer, peer: Peer)] = [:]
    private var lastPeer: Int
    private var hasErred = false

    init(listener: Int32?) throws(Transfer.Refusal) {
        self.listener = listener
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = curl_multi_init() else {
            throw .noMemory
        }
        self.multi = multi
        lastPeer = Self.now
        curl_set_limit(multi, CURLMOPT_MAXCONNECTS, LookupLimits.openRequests)
        if listener == nil { peers = [Peer(input: 0, output: 1, now: Self.now)] }
    }

    /// The socket that systemd passes (sd_listen_fds(3)), if it does.
    static func passedSocket() throws(NoSocket) -> Int32? {
        guard let process = getenv("LISTEN_PID"), Int32(String(cString: process)) == getpid() else { return nil }
        guard let count = getenv("LISTEN_FDS"), String(cString: count) == "1" else { throw NoSocket() }
        let first: Int32 = 3
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(first, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1 else {
            throw NoSocket()
        }
        return first
    }

    /// - Returns: the program's exit status.
    func run() -> Int32 {
        while true {
            alarm(Self.hangLimit)
            step()
            dropPeers { $0.isOver || $0.isIdle && Self.now - $0.lastUse >= Self.silence }
            if listener == nil, peers.isEmpty { return hasErred ? 1 : 0 }
            if peers.isEmpty, Self.now - lastPeer >= Self.linger { return 0 }
            wait()
        }
    }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }

    // MARK: Requests

    private func step() {
        for peer in peers { start(peer) }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let result = curl_result(message)
            guard let (transfer, peer) = transfers.removeValue(forKey: handle) else { continue }
            curl_multi_remove_handle(multi, handle)
            peer.answer(transfer.id, transfer.outcome(result), now: Self.now)
        }
    }

    private func start(_ peer: Peer) {
        while let request = peer.nextRequest(now: Self.now) {
            do {
                let transfer = try Transfer(request)
                transfers[transfer.handle] = (transfer, peer)
                curl_multi_add_handle(multi, transfer.handle)
            } catch {
                peer.answer(request.id, .failed(reason: error.reason), now: Self.now)
            }
        }
    }

    private func dropPeers(_ isDue: (Peer) -> Bool) {
        for peer in peers where isDue(peer) {
            lastPeer = Self.now
            hasErred = hasErred || peer.hasErred
            for (handle, each) in transfers where each.peer === peer {
                curl_multi_remove_handle(multi, handle)
                transfers[handle] = nil
            }
        }
        peers.removeAll(where: isDue)
    }

    // MARK: Descriptors

    /// Waits for peers and for libcurl's own connections, and reads what peers have sent.
    private func wait() {
        // Of an output only the end is of interest, which is always told.
        var descriptors = peers.flatMap {
            [
                pollfd(fd: $0.output, events: 0, revents: 0),
                pollfd(fd: $0.wantsInput ? $0.input : -1, events: Int16(POLLIN), revents: 0),
            ]
        }
        if let listener, peers.count < Self.mostPeers {
            descriptors.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
        }
        var extra = descriptors.filter { $0.fd >= 0 }.map { curl_waitfd(fd: $0.fd, events: $0.events, revents: 0) }
        let limit = listener != nil && peers.isEmpty ? Self.linger : Int(Self.hangLimit) / 3
        curl_multi_poll(multi, &extra, UInt32(extra.count), Int32(limit) * 1000, nil)
        // libcurl does not pass on who has hung up.
        guard poll(&descriptors, nfds_t(descriptors.count), 0) > 0 else { return }
        for (index, peer) in peers.enumerated() {
            if descriptors[2 * index].revents & Int16(POLLHUP | POLLERR) != 0 { peer.hangUp() }
            if descriptors[2 * index + 1].revents != 0 { peer.receive() }
        }
        if let last = descriptors.last, last.fd == listener, last.revents != 0 { accept(last.fd) }
    }

    private func accept(_ listener: Int32) {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        peers.append(Peer(input: descriptor, output: descriptor, now: Self.now))
    }
}
