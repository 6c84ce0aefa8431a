import JSON

/// The daemon's line: `{"body":"{}","id":7,"url":"https://…","user-agent":"…","version":1}`, with `nickname` if need be.
package struct RequestLine: Sendable, Hashable {
    /// Comes back with the answer. No two open requests of a connection have the same.
    package var id: UInt32
    package var request: LookupRequest

    package init(id: UInt32, request: LookupRequest) {
        self.id = id
        self.request = request
    }

    /// - Parameter line: without its end.
    /// - Throws: ``LookupLineFault``.
    package init(reading line: [UInt8]) throws(LookupLineFault) {
        var members = try LineMembers(line, limit: LookupLimits.requestLine)
        id = try members.takeID()
        request = LookupRequest(
            url: try members.takeText("url"), userAgent: try members.takeText("user-agent"),
            nickname: members.contains("nickname") ? try members.takeText("nickname") : nil,
            body: Array(try members.takeText("body").utf8))
        try members.end()
        try check()
    }

    /// - Returns: the line with its end.
    /// - Throws: ``LookupLineFault`` for a request that ``init(reading:)`` would refuse.
    package func text() throws(LookupLineFault) -> String {
        try check()
        guard let body = String(validating: request.body, as: UTF8.self), !request.body.contains(0) else {
            throw .invalid("body")
        }
        var members: [String: JSONValue] = [
            "url": .string(request.url), "user-agent": .string(request.userAgent), "body": .string(body),
        ]
        if let nickname = request.nickname { members["nickname"] = .string(nickname) }
        return try LineMembers.line(id, members, limit: LookupLimits.requestLine)
    }

    /// Blanks and control characters would become something else in the head of an HTTP request.
    private func check() throws(LookupLineFault) {
        try request.url.check("url", limit: LookupLimits.url)
        guard !request.url.contains(" ") else { throw .invalid("url") }
        try request.userAgent.check("user-agent", limit: LookupLimits.userAgent)
        try request.nickname?.check("nickname", limit: LookupLimits.nickname)
        guard request.body.count <= LookupLimits.requestBody else { throw .invalid("body") }
    }
}
