import JSON

/// The lookup process's line: `{"body":"…","id":7,"retry-after":120,"status":503,"version":1}`, or with `failure` alone.
package struct AnswerLine: Sendable, Hashable {
    package var id: UInt32
    package var outcome: LookupOutcome

    package init(id: UInt32, outcome: LookupOutcome) {
        self.id = id
        self.outcome = outcome
    }

    /// - Parameter line: without its end.
    /// - Throws: ``LookupLineFault``.
    package init(reading line: [UInt8]) throws(LookupLineFault) {
        var members = try LineMembers(line, limit: LookupLimits.answerLine)
        id = try members.takeID()
        if members.contains("failure") {
            let reason = try members.takeText("failure")
            try reason.check("failure", limit: LookupLimits.reason)
            outcome = .failed(reason: reason)
        } else {
            guard let status = try members.takeNumber("status", in: 100...999) else { throw .missing("status") }
            let retryAfter = try members.takeNumber("retry-after", in: UInt32.min...UInt32.max)
            let body = Array(try members.takeText("body").utf8)
            guard body.count <= LookupLimits.answerBody else { throw .invalid("body") }
            outcome = .answered(.init(status: status, retryAfter: retryAfter, body: body))
        }
        try members.end()
    }

    /// A body may be any bytes; those that JSON cannot hold become U+FFFD.
    ///
    /// - Returns: the line with its end.
    /// - Throws: ``LookupLineFault`` for an answer that ``init(reading:)`` would refuse.
    package func text() throws(LookupLineFault) -> String {
        var members: [String: JSONValue] = [:]
        switch outcome {
        case .failed(let reason):
            try reason.check("failure", limit: LookupLimits.reason)
            members["failure"] = .string(reason)
        case .answered(let response):
            guard (100...999).contains(response.status) else { throw .invalid("status") }
            let body = Self.text(response.body)
            guard body.utf8.count <= LookupLimits.answerBody else { throw .invalid("body") }
            members["status"] = .integer(Int64(response.status))
            if let seconds = response.retryAfter { members["retry-after"] = .integer(Int64(seconds)) }
            members["body"] = .string(body)
        }
        return try LineMembers.line(id, members, limit: LookupLimits.answerLine)
    }

    /// jansson, which reads the line, takes no NUL.
    private static func text(_ bytes: [UInt8]) -> String {
        var text = ""
        text.unicodeScalars.append(
            contentsOf: String(decoding: bytes, as: UTF8.self).unicodeScalars.lazy.map { $0 == "\0" ? "\u{FFFD}" : $0 })
        return text
    }
}
