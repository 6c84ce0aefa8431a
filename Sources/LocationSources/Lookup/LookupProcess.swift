import EventLoop
import Glibc
import LookupProtocol

/// Has the lookup process send requests: the one of the system behind its socket, or a child of ours where there is none.
///
/// It is there only as long as it is of use. One that hangs, crashes or says what nobody understands is given up with all
/// open requests, and the next request finds another one, after a wait that grows.
@ServiceActor
package final class LookupProcess: LookupTransport {
    /// The socket of `whereabouts-lookup.socket`.
    package nonisolated static let systemSocket = "/run/whereabouts/lookup.sock"

    /// `whereabouts-lookup` beside the program that is running, as both are installed.
    package nonisolated static var installedProgram: String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        guard count > 0 else { return nil }
        let file = String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = file.lastIndex(of: "/") else { return nil }
        return file[...slash] + "whereabouts-lookup"
    }

    /// The process keeps to ``LookupLimits/time`` itself; whoever needs longer hangs.
    package nonisolated static let answerTime = LookupLimits.time + .seconds(2)

    /// How long a process is kept that nobody has anything to ask of.
    package nonisolated static let idleTime = Duration.seconds(30)

    private static let rests = Reconnect.Waits(first: .seconds(1), limit: .seconds(300))

    private let socket: String?
    private let program: String?
    private let clock: any Clock
    private var link: LookupLink?
    private var requests: [UInt32: OpenRequest] = [:]
    private var nextID: UInt32 = 0
    private var idle: Timer?
    /// How many processes in a row have been of no use, and until when none is tried.
    private var failures = 0
    private var restEnd = Duration.zero

    private struct OpenRequest {
        /// `nil` once nobody waits any more; its answer is still to come.
        var continuation: CheckedContinuation<LookupOutcome, Never>?
        let deadline: Timer
    }

    /// - Parameters:
    ///   - socket: a Unix socket where the lookup process serves, if it does.
    ///   - program: what to start where nobody listens there.
    package init(socket: String?, program: String?, clock: any Clock) {
        self.socket = socket
        self.program = program
        self.clock = clock
    }

    package var rest: Duration? { restEnd > clock.now ? restEnd : nil }

    package func send(_ request: LookupRequest) async -> LookupOutcome {
        guard rest == nil else { return .failed(reason: "the lookup process has failed, and rests") }
        guard requests.count < LookupLimits.openRequests else { return .failed(reason: "too many requests at once") }
        let id = nextID
        let line: String
        do {
            line = try RequestLine(id: id, request: request).text()
        } catch {
            return .failed(reason: "the request cannot be sent: \(error)")
        }
        nextID &+= 1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let deadline = clock.after(Self.answerTime) { [weak self] in self?.fail("the lookup process hangs") }
                requests[id] = OpenRequest(continuation: continuation, deadline: deadline)
                if !Task.isCancelled { transmit(line) }
            }
        } onCancel: {
            // Runs after this call has suspended, also where the task was cancelled before it came.
            ServiceActor.task { self.cancel(id) }
        }
    }

    private func transmit(_ line: String) {
        idle = nil
        let link =
            self.link
            ?? LookupLink(socket: socket, program: program, clock: clock) { [weak self] in self?.handle($0) }
        self.link = link
        link.send(line)
    }

    private func handle(_ event: LookupLink.Event) {
        switch event {
        case .answered(let line): answered(line)
        // It may leave when it has nothing to do.
        case .left where requests.isEmpty: letGo()
        case .left: fail("the lookup process has ended")
        case .failed(let reason): fail(reason)
        }
    }

    private func answered(_ line: AnswerLine) {
        guard let request = requests.removeValue(forKey: line.id) else {
            return fail("the lookup process answers what nobody asked")
        }
        if failures > 0 { Log.info("the lookup process works again") }
        failures = 0
        request.continuation?.resume(returning: line.outcome)
        guard !letGoIfUnwanted(), requests.isEmpty else { return }
        switch line.outcome {
        case .answered: idle = clock.after(Self.idleTime) { [weak self] in self?.letGo() }
        // What it knows of name servers may be of yesterday's network, and its files be replaced.
        case .failed: letGo()
        }
    }

    private func cancel(_ id: UInt32) {
        guard let continuation = requests[id]?.continuation else { return }
        requests[id]?.continuation = nil
        continuation.resume(returning: .failed(reason: "cancelled"))
        letGoIfUnwanted()
    }

    /// Ends requests that all have been cancelled, which takes hanging up. Beside others each runs to its end.
    @discardableResult
    private func letGoIfUnwanted() -> Bool {
        guard !requests.isEmpty, requests.values.allSatisfy({ $0.continuation == nil }) else { return false }
        letGo()
        return true
    }

    /// Ends it at once, with all that is open. Nothing is left of a child, even of one that hangs.
    ///
    /// It rests from then on, so that no provider is blamed for the end and none asked after it.
    package func end() {
        restEnd = clock.now + Self.rests.limit
        let open = requests
        link?.close(kill: true)
        letGo()
        for request in open.values { request.continuation?.resume(returning: .failed(reason: "the service ends")) }
    }

    private func letGo() {
        requests = [:]
        idle = nil
        link?.close()
        link = nil
    }

    private func fail(_ reason: String) {
        failures += 1
        if failures == 1 { Log.warning(reason) }
        restEnd = clock.now + Self.rests.wait(failures - 1)
        let failed = requests
        link?.close(kill: true)
        letGo()
        for request in failed.values { request.continuation?.resume(returning: .failed(reason: reason)) }
    }
}
