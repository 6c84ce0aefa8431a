import EventLoop
import Geolocation
import Positioning
import Testing

/// What a source reports, in order.
@ServiceActor
final class Reports {
    private let stream: AsyncStream<SourceReport>
    private(set) var all: [SourceReport] = []

    init(of source: any LocationSource) {
        let (stream, sink) = AsyncStream.makeStream(of: SourceReport.self)
        self.stream = stream
        source.report = { [weak self] report in
            self?.all.append(report)
            sink.yield(report)
        }
    }

    func next() async throws -> SourceReport {
        for await report in stream { return report }
        throw CancellationError()
    }

    func nextFix() async throws -> Fix {
        guard case .fix(let fix) = try await next() else { throw Unexpected() }
        return fix
    }

    struct Unexpected: Error {}
}

extension Demand {
    static let exact = Demand(level: .exact, minimumInterval: 0)
}

extension SourceReport {
    var fix: Fix? {
        if case .fix(let fix) = self { fix } else { nil }
    }
}
