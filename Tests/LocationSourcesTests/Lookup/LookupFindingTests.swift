import Geolocation
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

@Suite struct LookupFindingTests {
    private func trouble(_ outcome: LookupOutcome) -> ProviderTrouble.Kind? {
        if case .trouble(let trouble) = LookupFinding(outcome, isByAddress: true) { trouble.kind } else { nil }
    }

    @Test(
        "a place on Earth with a radius is taken",
        arguments: [
            (#"{"location":{"lat":52.5,"lng":-13.4},"accuracy":45.4}"#, 52.5, -13.4, 45.4),
            (#"{"location":{"lat":0,"lng":6},"accuracy":50,"fallback":null,"license":"x"}"#, 0, 6, 50),
            (#"{"location":{"lat":-90,"lng":180},"accuracy":10000000}"#, -90, 180, 1e7),
            (#"{"location":{"lat":0.5,"lng":0.5},"accuracy":1}"#, 0.5, 0.5, 1),
        ])
    func taken(body: String, latitude: Double, longitude: Double, accuracy: Double) throws {
        let coordinate = try #require(Coordinate(latitude: latitude, longitude: longitude))

        #expect(LookupFinding(.status(200, body), isByAddress: false) == .place(coordinate, accuracy: accuracy))
    }

    @Test(
        "anything else in a good answer is a fault of the provider",
        arguments: [
            "", "{}", "[]", "null", "7", "<html>", #"{"location": {"lat": 51.0, "lng":"#, #"{"location":[]}"#,
            #"{"location":{},"accuracy":5}"#, #"{"location":{"lat":52.5},"accuracy":5}"#,
            #"{"location":{"lat":"52.5","lng":13.4},"accuracy":5}"#, #"{"location":{"lat":91,"lng":13},"accuracy":5}"#,
            #"{"location":{"lat":1,"lng":180.1},"accuracy":5}"#, #"{"location":{"lat":1e999,"lng":1},"accuracy":5}"#,
            #"{"location":{"lat":NaN,"lng":1},"accuracy":5}"#, #"{"location":{"lat":0,"lng":0},"accuracy":5}"#,
            #"{"location":{"lat":0.0,"lng":-0.0},"accuracy":25000,"fallback":"ipf"}"#,
            #"{"location":{"lat":0.00001,"lng":0},"accuracy":5}"#, #"{"location":{"lat":52.5,"lng":13.4}}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":0}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":-1}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":1e-300}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":0.99}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":1e300}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":10000001}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":"40"}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":true}"#,
            #"{"location":{"lat":52.5,"lng":13.4},"accuracy":40,"fallback":1}"#,
            #"{"error":{"code":404,"message":"Not found"}}"#, Sample(String(repeating: "[", count: 5000)),
            Sample(
                #"{"x":""# + String(repeating: "x", count: 1 << 16)
                    + #"","location":{"lat":52.5,"lng":13.4},"accuracy":5}"#),
        ] as [Sample])
    func wrongContent(body: Sample) {
        #expect(trouble(.status(200, body.text)) == .wrongContent)
    }

    @Test("bytes that are no text are a fault of the provider")
    func noText() {
        #expect(trouble(.answered(.init(status: 200, body: [0x7B, 0xFF, 0x00, 0x7D]))) == .wrongContent)
    }

    @Test("a place by something else than what was asked about is none", arguments: ["ipf", "lacf", "new"])
    func fallback(name: String) {
        let outcome = LookupOutcome.status(
            200, #"{"location":{"lat":52.5,"lng":13.4},"accuracy":25000,"fallback":"\#(name)"}"#)

        #expect(LookupFinding(outcome, isByAddress: false) == .unknown)
        #expect(LookupFinding(outcome, isByAddress: true) != .unknown && trouble(outcome) == nil)
    }

    @Test("a provider that does not know says so in the words of Ichnaea, or in none")
    func unknown() {
        #expect(LookupFinding(.notFound, isByAddress: false) == .unknown)
        #expect(LookupFinding(.status(404), isByAddress: false) == .unknown)
        #expect(trouble(.status(404, "<html>Not Found</html>")) == .wrongContent)
    }

    @Test(
        "each status is a trouble of its kind",
        arguments: [
            (.status(400, "Json deserialize error"), .badRequest),
            (.error(400, "global", "parseError"), .badRequest), (.error(400, "usageLimits", "keyInvalid"), .refusal),
            (.error(403, "usageLimits", "dailyLimitExceeded"), .dailyLimit), (.status(403, "Forbidden"), .refusal),
            (.status(429), .busy), (.status(503), .busy), (.status(500), .serverError), (.status(502), .serverError),
            (.status(408), .serverError), (.status(301), .refusal), (.status(401), .refusal), (.status(204), .refusal),
            (.status(0), .refusal), (.status(-5), .refusal), (.failed(reason: "timed out"), .noAnswer),
        ] as [(LookupOutcome, ProviderTrouble.Kind)])
    func statuses(outcome: LookupOutcome, kind: ProviderTrouble.Kind) {
        #expect(trouble(outcome) == kind)
    }
}
