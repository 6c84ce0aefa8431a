import EventLoop
import Foundation
import LookupProtocol
import Testing

@testable import LocationSources

/// The program with its standard input and output in the test's hand.
@ServiceActor
struct RealLookup {
    static nonisolated let program = LookupProcess.installedProgram ?? ""

    /// Programs that are confined cannot be searched for leaks, and fail where they should be.
    static nonisolated let sanitizer = "ASAN_OPTIONS=\(ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? "")"

    let peer: LoopbackPeer
    let child: ChildProcess
    private let end: AsyncStream<ChildProcess.Exit>

    init(environment: [String] = []) throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        peer = LoopbackPeer(FileDescriptor(adopting: ends[0]))
        child = try ChildProcess(
            Self.program, environment: environment + [Self.sanitizer],
            stream: FileDescriptor(adopting: ends[1]))
        let (end, sink) = AsyncStream.makeStream(of: ChildProcess.Exit.self)
        self.end = end
        child.onExit = { sink.yield($0) }
    }

    /// Sends a request, of which nothing is waited for.
    func send(_ id: UInt32 = 1, to url: String) throws {
        peer.send(try RequestLine(id: id, request: Self.request(url)).text())
    }

    static nonisolated func request(_ url: String) -> LookupRequest {
        LookupRequest(url: url, userAgent: "Whereabouts/0 (test)", body: Array("{\"considerIp\":true}\n".utf8))
    }

    func answer(_ request: RequestLine) async throws -> LookupOutcome {
        peer.send(try request.text())
        let answer = try await nextAnswer()
        #expect(answer.id == request.id)
        return answer.outcome
    }

    func nextAnswer() async throws -> AnswerLine {
        try AnswerLine(reading: Array(try #require(await peer.nextLine()).utf8))
    }

    func exit() async -> ChildProcess.Exit? {
        for await exit in end { return exit }
        return nil
    }
}

/// What an HTTP server of the test is asked. The body is one line.
struct AskedRequest {
    let head: [String]
    let body: String?

    @ServiceActor
    init(_ peer: LoopbackPeer) async {
        var head: [String] = []
        while let line = await peer.nextLine(), line != "\r" { head.append(line.filter { $0 != "\r" }) }
        self.head = head
        body = await peer.nextLine()
    }
}

extension LookupOutcome {
    /// Why there is no answer; `nil` if there is one.
    var failure: String? { if case .failed(let reason) = self { reason } else { nil } }
}
