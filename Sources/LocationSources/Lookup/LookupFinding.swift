import Geolocation
import JSON
import LookupProtocol

/// What one outcome says: a place, that there is none, or something about the provider.
enum LookupFinding: Sendable, Equatable {
    case place(Coordinate, accuracy: Double)
    /// The provider works, and does not know what it was asked about.
    case unknown
    case trouble(ProviderTrouble)

    /// Judges what came. Nothing in it is trusted.
    init(_ outcome: LookupOutcome, isByAddress: Bool) {
        switch outcome {
        case .failed(let reason): self = .trouble(ProviderTrouble(.noAnswer, "no answer (\(reason.prefix(100)))"))
        case .answered(let response) where response.status == 200: self.init(place: response.body, isByAddress)
        case .answered(let response): self.init(error: response)
        }
    }

    private init(error response: LookupOutcome.Response) {
        let status = response.status
        let reason = Self.reason(in: response.body)
        switch status {
        // Without the words of the protocol, it is the address of this provider that leads nowhere.
        case 404 where reason == nil && !response.body.isEmpty:
            self = .trouble(ProviderTrouble(.wrongContent, "404, but not in the words of Ichnaea"))
        case 404: self = .unknown
        case 400 where reason == "keyInvalid": self = .trouble(ProviderTrouble(.refusal, "the access key is not valid"))
        case 400: self = .trouble(ProviderTrouble(.badRequest, "it takes the request for wrong (400)"))
        case 403 where reason == "dailyLimitExceeded":
            self = .trouble(ProviderTrouble(.dailyLimit, "its daily limit is reached"))
        case 429, 503:
            self = .trouble(ProviderTrouble(.busy, "it is busy (\(status))", retryAfter: response.retryAfter))
        case 408, 500...599: self = .trouble(ProviderTrouble(.serverError, "an error of its own (\(status))"))
        default: self = .trouble(ProviderTrouble(.refusal, "it refuses the request (\(status))"))
        }
    }

    /// `errors[0].reason` of an error answer.
    private static func reason(in body: [UInt8]) -> String? {
        (try? json(body))?["error"]?["errors"]?.array?.first?["reason"]?.string
    }

    private static func json(_ body: [UInt8]) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: body[...], limits: JSONValue.Limits(bytes: 1 << 16, depth: 16))
    }

    // MARK: The place

    /// Radii in metres that can be. Ichnaea gives 10 at least; more says only that it is somewhere on Earth.
    private static let accuracies = 1...1e7
    /// In degrees. Around 0, 0 there is water, and whoever multiplies with nothing.
    private static let nullIsland = 1e-4

    private init(place body: [UInt8], _ isByAddress: Bool) {
        do throws(AnswerFault) {
            let (coordinate, accuracy, fallback) = try Self.place(in: body)
            // It was told not to, since the daemon asks for that apart: it does not know what it was asked about.
            self = fallback != nil && !isByAddress ? .unknown : .place(coordinate, accuracy: accuracy)
        } catch {
            self = .trouble(ProviderTrouble(.wrongContent, error.rawValue))
        }
    }

    private enum AnswerFault: String, Error {
        case noJSON = "its answer is no JSON"
        case noLocation = "its answer holds no location"
        case noCoordinate = "its answer holds no place on Earth"
        case nullIsland = "its answer is 0, 0"
        case noAccuracy = "its answer holds no accuracy"
        case wrongAccuracy = "the accuracy in its answer cannot be"
        case wrongFallback = "its answer names a fallback that is none"
    }

    private static func place(
        in body: [UInt8]
    ) throws(AnswerFault) -> (coordinate: Coordinate, accuracy: Double, fallback: String?) {
        guard let answer = try? json(body) else { throw .noJSON }
        guard let location = answer["location"] else { throw .noLocation }
        guard let latitude = location["lat"]?.double, let longitude = location["lng"]?.double,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { throw .noCoordinate }
        guard abs(latitude) > nullIsland || abs(longitude) > nullIsland else { throw .nullIsland }
        guard let accuracy = answer["accuracy"]?.double else { throw .noAccuracy }
        guard accuracies.contains(accuracy) else { throw .wrongAccuracy }
        switch answer["fallback"] {
        case nil, .null: return (coordinate, accuracy, nil)
        case .string(let fallback): return (coordinate, accuracy, fallback)
        default: throw .wrongFallback
        }
    }
}
