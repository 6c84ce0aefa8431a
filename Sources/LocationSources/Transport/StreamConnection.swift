import EventLoop
import Glibc

/// One non-blocking connection to a ``StreamAddress``, from the attempt to its end.
///
/// Never calls its handler from within `init` or ``close()``. After `.ended` or ``close()`` nothing more comes.
@ServiceActor
package final class StreamConnection {
    package enum Event {
        case connected
        /// Bytes in the order of the stream, valid during the call.
        case received(UnsafeRawBufferPointer)
        case ended(End)
    }

    /// Why a connection is over, or never came about.
    package enum End: Equatable, Sendable {
        case endOfStream
        case timedOut
        /// It sent more than it may.
        case tooMuch
        /// A system call failed with this `errno`.
        case failed(Int32)
    }

    /// How long an attempt may take. The kernel alone would try for two minutes.
    package static let connectTimeout = Duration.seconds(10)

    /// What is read before others get their turn.
    private static let chunk = 16384

    private let handler: @ServiceActor (Event) -> Void
    private var descriptor: FileDescriptor?
    private var watch: Watch?
    private var deadline: Timer?
    private var isConnected = false
    private var isOver = false

    /// Starts connecting.
    package init(to address: StreamAddress, clock: any Clock, handler: @escaping @ServiceActor (Event) -> Void) {
        self.handler = handler
        switch Self.open(address) {
        case .failure(let failure):
            endSoon(.failed(failure.code))
        case .success(let descriptor):
            self.descriptor = descriptor
            watch = Watch(descriptor, for: .writable) { [weak self] events in self?.isReady(events) }
            deadline = clock.after(Self.connectTimeout) { [weak self] in self?.end(.timedOut) }
        }
    }

    /// Takes over one end of a connection that stands already, so no `.connected` comes.
    ///
    /// - Parameter descriptor: one that does not block.
    package init(adopting descriptor: FileDescriptor, handler: @escaping @ServiceActor (Event) -> Void) {
        self.handler = handler
        self.descriptor = descriptor
        isConnected = true
        watch = Watch(descriptor, for: .readable) { [weak self] events in self?.isReady(events) }
    }

    private struct SystemError: Error { let code: Int32 }

    private static func open(_ address: StreamAddress) -> Result<FileDescriptor, SystemError> {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = FileDescriptor(adopting: socket(address.family, type, 0))
        guard descriptor.raw >= 0 else { return .failure(SystemError(code: errno)) }
        let code = address.withSocketAddress { connect(descriptor.raw, $0, $1) == 0 ? 0 : errno }
        return code == 0 || code == EINPROGRESS ? .success(descriptor) : .failure(SystemError(code: code))
    }

    /// The loop keeps the watch; without this, an owner that lets go would leave it a closed descriptor.
    isolated deinit { watch?.cancel() }

    /// Sends a request. A peer that does not even take a few bytes is treated as gone.
    package func send(_ text: String) {
        guard isConnected, let descriptor else { return }
        var text = text
        let count = text.withUTF8 { Glibc.send(descriptor.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count != text.utf8.count { endSoon(.failed(count < 0 ? errno : EAGAIN)) }
    }

    package func close() {
        isOver = true
        deadline?.cancel()
        watch?.cancel()
        watch = nil
        descriptor = nil
    }

    private func isReady(_ events: Watch.Events) {
        guard let descriptor else { return }
        guard isConnected else { return finishConnecting(descriptor) }
        readOnce(descriptor)
    }

    private func finishConnecting(_ descriptor: FileDescriptor) {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor.raw, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { return end(.failed(code)) }
        isConnected = true
        deadline?.cancel()
        watch?.interest = .readable
        handler(.connected)
    }

    private func readOnce(_ descriptor: FileDescriptor) {
        withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 1) { buffer in
            let count = read(descriptor.raw, buffer.baseAddress, buffer.count)
            if count > 0 {
                handler(.received(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
            } else if count == 0 {
                end(.endOfStream)
            } else if errno != EAGAIN && errno != EINTR {
                end(.failed(errno))
            }
        }
    }

    private func end(_ reason: End) {
        close()
        handler(.ended(reason))
    }

    private func endSoon(_ reason: End) {
        EventLoop.shared.defer { [weak self] in
            guard let self, !isOver else { return }
            end(reason)
        }
    }
}

extension StreamConnection.End: CustomStringConvertible {
    package var description: String {
        switch self {
        case .endOfStream: "the other side closed the connection"
        case .timedOut: "no answer"
        case .tooMuch: "more data than any receiver sends"
        case .failed(let code): String(cString: strerror(code))
        }
    }
}
