import EventLoop
import Geolocation
import JSON
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

/// Carries requests nowhere: answers as a test says, and remembers what was to be sent.
@ServiceActor
final class ScriptedTransport: LookupTransport {
    var rest: Duration?
    private(set) var requests: [LookupRequest] = []
    var answer: @ServiceActor (LookupRequest) async -> LookupOutcome = { _ in .failed(reason: "connection refused") }
    /// How many requests are under way.
    private(set) var open = 0
    private(set) var mostOpen = 0
    private(set) var cancelled = 0

    private var held: [AsyncStream<LookupOutcome>.Continuation] = []

    func send(_ request: LookupRequest) async -> LookupOutcome {
        // What the real one could not pass on fails there, too.
        do { _ = try RequestLine(id: 0, request: request).text() } catch { return .failed(reason: "\(error)") }
        requests.append(request)
        open += 1
        mostOpen = max(mostOpen, open)
        let outcome = await answer(request)
        open -= 1
        if Task.isCancelled { cancelled += 1 }
        return outcome
    }

    /// The host of each request, in order.
    var hosts: [String] { requests.compactMap { LookupProvider($0.url)?.host } }

    /// Leaves a request without an answer until ``release(_:)``, or until it is cancelled.
    func hold() async -> LookupOutcome {
        let (stream, sink) = AsyncStream.makeStream(of: LookupOutcome.self)
        held.append(sink)
        for await outcome in stream { return outcome }
        return .failed(reason: "cancelled")
    }

    /// Answers the oldest request that is held.
    func release(_ outcome: LookupOutcome) { held.removeFirst().yield(outcome) }
}

extension LookupOutcome {
    static func status(_ status: Int, _ body: String = "", retryAfter: UInt32? = nil) -> LookupOutcome {
        .answered(Response(status: status, retryAfter: retryAfter, body: Array(body.utf8)))
    }

    static func place(
        _ latitude: Double = 52.5, _ longitude: Double = 13.4, accuracy: Double = 40
    ) -> LookupOutcome {
        .status(200, #"{"location":{"lat":\#(latitude),"lng":\#(longitude)},"accuracy":\#(accuracy)}"#)
    }

    static let notFound = LookupOutcome.error(404, "geolocation", "notFound")

    static func error(_ status: Int, _ domain: String, _ reason: String) -> LookupOutcome {
        .status(status, #"{"error":{"errors":[{"domain":"\#(domain)","reason":"\#(reason)"}],"code":\#(status)}}"#)
    }
}

extension LookupRequest {
    var json: JSONValue? { try? JSONValue(parsing: body[...]) }
}

extension LookupQuery {
    /// Two access points, as loud as most, heard a second ago.
    static func scan(_ addresses: UInt64..., at now: Duration = .seconds(1000)) -> LookupQuery {
        LookupQuery(
            accessPoints: addresses.map {
                AccessPoint(address: $0, signal: -60, frequency: 2412, seenAt: now - .seconds(1))
            })
    }

    static let home = scan(0x0011_22AA_0001, 0x0011_22AA_0002)
    static let work = scan(0x0011_22AA_0003, 0x0011_22AA_0004)
}

extension LookupResult {
    var place: FoundPlace? {
        if case .found(let place) = self { place } else { nil }
    }

    var retryAt: Duration? {
        if case .unavailable(let moment) = self { moment } else { nil }
    }
}

/// A chain with everything around it.
@ServiceActor
final class LookupBench {
    let clock = ManualClock()
    let network = ScriptedNetwork()
    let transport = ScriptedTransport()
    let chain: ProviderChain

    init(_ urls: String..., isOnline: Bool = true) {
        network.state.isOnline = isOnline
        chain = ProviderChain(
            providers: urls.compactMap { LookupProvider($0) }, transport: transport, network: network,
            userAgent: "Whereabouts/1 (test)", clock: clock)
    }

    /// With two providers, `first.example` and `second.example`.
    static func pair() -> LookupBench { LookupBench(first, second) }

    static let first = "https://first.example/v1/geolocate?key=secret"
    static let second = "https://second.example/v1/geolocate"

    /// Asks, and waits for what comes of it.
    func ask(_ query: LookupQuery = .home) async -> LookupResult { await chain.locate(query) }
}

/// As tests that are given one are called in the log.
extension LookupOutcome: CustomTestStringConvertible {
    package var testDescription: String {
        switch self {
        case .answered(let response): "\(response.status) \(Sample(String(decoding: response.body, as: UTF8.self)))"
        case .failed(let reason): reason
        }
    }
}
