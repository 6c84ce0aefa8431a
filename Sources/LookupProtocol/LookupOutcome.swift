/// What became of a ``LookupRequest``. Nothing in it has been judged yet.
package enum LookupOutcome: Sendable, Hashable {
    case answered(Response)
    /// No answer came; the reason is for the log and holds neither an address nor a key.
    case failed(reason: String)

    package struct Response: Sendable, Hashable {
        /// Of HTTP.
        package var status: Int
        /// What `Retry-After` said, in seconds, where it was there.
        package var retryAfter: UInt32?
        package var body: [UInt8]

        package init(status: Int, retryAfter: UInt32? = nil, body: [UInt8]) {
            self.status = status
            self.retryAfter = retryAfter
            self.body = body
        }
    }
}
