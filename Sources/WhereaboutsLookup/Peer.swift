import Glibc
import LookupProtocol

/// One that asks: the daemon, on a pair of descriptors or on a connection.
final class Peer {
    let input: Int32
    let output: Int32
    /// Ids of requests that have no answer yet.
    private var open: Set<UInt32> = []
    private var lines = LineBuffer(limit: LookupLimits.requestLine)
    /// Nothing more comes; what has come is still to be answered.
    private var isAtEnd = false
    /// It has hung up, or said what nobody understands.
    private(set) var isGone = false
    private(set) var hasErred = false
    /// When it asked, or was answered, last; in seconds.
    private(set) var lastUse: Int

    /// Takes over the descriptors.
    init(input: Int32, output: Int32, now: Int) {
        self.input = input
        self.output = output
        lastUse = now
    }

    deinit {
        close(input)
        if output != input { close(output) }
    }

    var isIdle: Bool { open.isEmpty }
    var isOver: Bool { isGone || isAtEnd && open.isEmpty }
    var wantsInput: Bool { !isAtEnd && !isGone && open.count < LookupLimits.openRequests }

    /// Reads once; to be called when there is something.
    func receive() {
        withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
            let count = read(input, buffer.baseAddress, buffer.count)
            if count > 0 {
                lines.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 {
                isAtEnd = true
            } else if errno != EINTR && errno != EAGAIN {
                isGone = true
            }
        }
    }

    /// The next request, while not too many are open.
    func nextRequest(now: Int) -> RequestLine? {
        guard !isGone, open.count < LookupLimits.openRequests else { return nil }
        do {
            guard let line = try lines.next() else { return nil }
            let request = try RequestLine(reading: line)
            guard open.insert(request.id).inserted else { throw LookupLineFault.invalid("id") }
            lastUse = now
            return request
        } catch {
            // One that does not keep to the protocol may mean anything by its next line.
            Report.error("a request is refused: \(error)")
            isGone = true
            hasErred = true
            return nil
        }
    }

    func answer(_ id: UInt32, _ outcome: LookupOutcome, now: Int) {
        open.remove(id)
        lastUse = now
        let line =
            (try? AnswerLine(id: id, outcome: outcome).text())
            ?? (try? AnswerLine(id: id, outcome: .failed(reason: "the answer cannot be passed on")).text()) ?? ""
        send(Array(line.utf8)[...])
    }

    func hangUp() { isGone = true }

    /// Waits for a peer that does not read. One that never does is the business of the process's alarm.
    private func send(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty, !isGone {
            let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptor = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                isGone = true
            }
        }
    }
}
