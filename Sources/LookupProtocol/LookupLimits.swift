/// What the two sides take from each other at most. Sizes in bytes of UTF-8.
package enum LookupLimits {
    package static let url = 2048
    package static let userAgent = 256
    /// As GeoClue's configuration has it.
    package static let nickname = 32
    /// A question takes a tenth of it or two; reports of what could be received are cut to it.
    package static let requestBody = 16 << 10
    package static let answerBody = 64 << 10
    /// Of a failure.
    package static let reason = 256

    /// JSON writes a byte with six at most (`\u001f`), and the other members take a few hundred.
    package static let requestLine = 6 * requestBody + 2 * (url + userAgent + nickname) + 512
    package static let answerLine = 6 * max(answerBody, reason) + 512

    /// Requests of one connection that wait for their answers.
    package static let openRequests = 4
    /// From a request to its answer, name resolution and connecting included.
    package static let time = Duration.seconds(10)
}
