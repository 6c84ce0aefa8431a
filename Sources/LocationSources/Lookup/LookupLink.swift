import EventLoop
import Glibc
import LookupProtocol

/// One lookup process, at the other end of a connection: the system's own, or a child.
///
/// Never calls its handler from within `init`, `send` or `close`. After `.ended` or ``close(kill:)`` nothing more comes.
@ServiceActor
final class LookupLink {
    enum Event {
        case answered(AnswerLine)
        /// It hung up.
        case left
        /// It cannot be reached, or says what nobody understands.
        case failed(reason: String)
    }

    /// How long a child may take to see that it is no longer wanted.
    private static let endingTime = Duration.seconds(2)

    /// What a child needs to know of our surroundings: the proxies of libcurl (its manual, libcurl-env(3)), and where the
    /// certificates are on systems that have them nowhere usual.
    private static let variables = [
        "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE",
    ]

    private let program: String?
    private let clock: any Clock
    private let handler: @ServiceActor (Event) -> Void
    private var connection: StreamConnection?
    private var isConnected = false
    private var child: ChildProcess?
    private var unsent = ""
    private var lines = LineBuffer(limit: LookupLimits.answerLine)
    private var isOver = false

    /// Connects to `socket`; where nobody listens there, or there is none, starts `program`.
    init(socket: String?, program: String?, clock: any Clock, handler: @escaping @ServiceActor (Event) -> Void) {
        self.program = program
        self.clock = clock
        self.handler = handler
        if let socket {
            connection = StreamConnection(to: .unix(path: socket), clock: clock) { [weak self] in self?.handle($0) }
        } else {
            EventLoop.shared.defer { [weak self] in self?.startChild() }
        }
    }

    isolated deinit { close() }

    /// Sends a line, later where there is no connection yet.
    func send(_ line: String) {
        if isConnected { connection?.send(line) } else { unsent += line }
    }

    /// Hangs up, by which a process that works ends its requests.
    ///
    /// - Parameter kill: whether a child is not to be given the time to see it.
    func close(kill: Bool = false) {
        isOver = true
        connection?.close()
        connection = nil
        guard let child, child.exit == nil else { return }
        self.child = nil
        guard !kill else { return child.kill() }
        let timer = clock.after(Self.endingTime) { child.kill() }
        child.onExit = { _ in timer.cancel() }
    }

    private func startChild() {
        guard !isOver else { return }
        guard let program else { return fail("there is no lookup process") }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return fail("cannot start the lookup process: \(String(cString: strerror(errno)))")
        }
        let (ours, theirs) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
        _ = fcntl(ours.raw, F_SETFL, O_NONBLOCK)
        let environment = Self.variables.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        do {
            child = try ChildProcess(program, environment: environment, stream: theirs)
        } catch {
            return fail("cannot start \(program): \(String(cString: strerror(error.code)))")
        }
        connection = StreamConnection(adopting: ours) { [weak self] in self?.handle($0) }
        connected()
    }

    private func connected() {
        isConnected = true
        if !unsent.isEmpty { connection?.send(unsent) }
        unsent = ""
    }

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .connected: connected()
        case .received(let bytes): received(bytes)
        case .ended(.failed(ENOENT)) where !isConnected, .ended(.failed(ECONNREFUSED)) where !isConnected,
            .ended(.failed(EACCES)) where !isConnected:
            startChild()
        case .ended(.endOfStream): end(.left)
        case .ended(let end): fail("the lookup process cannot be reached: \(end)")
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        lines.append(bytes)
        do {
            while !isOver, let line = try lines.next() { handler(.answered(try AnswerLine(reading: line))) }
        } catch {
            fail("the lookup process sends nonsense: \(error)")
        }
    }

    private func fail(_ reason: String) { end(.failed(reason: reason)) }

    private func end(_ event: Event) {
        guard !isOver else { return }
        isOver = true
        handler(event)
    }
}
