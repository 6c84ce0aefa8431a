/// One request to a lookup service, which the lookup process sends for the daemon: always a POST of JSON.
package struct LookupRequest: Sendable, Hashable {
    /// Where to; may hold an access key.
    package var url: String
    /// The `User-Agent` of the request.
    package var userAgent: String
    /// `X-Nickname`, which submissions carry for those who want to be counted. See ``isNickname(_:)``.
    package var nickname: String?
    /// JSON in UTF-8.
    package var body: [UInt8]

    package init(url: String, userAgent: String, nickname: String? = nil, body: [UInt8]) {
        self.url = url
        self.userAgent = userAgent
        self.nickname = nickname
        self.body = body
    }

    /// Whether a request may carry it: 1 to ``LookupLimits/nickname`` characters of visible ASCII and blanks.
    package static func isNickname(_ text: String) -> Bool {
        (try? text.check("nickname", limit: LookupLimits.nickname)) != nil
    }
}
