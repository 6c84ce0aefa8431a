/// Reads `bytes` as lines of both directions. Traps if a line that is taken does not come back as it was.
package func fuzzLookup(_ bytes: UnsafeRawBufferPointer) {
    for limit in [LookupLimits.requestLine, LookupLimits.answerLine] {
        var lines = LineBuffer(limit: limit)
        lines.append(bytes)
        while let line = try? lines.next() {
            if let request = try? RequestLine(reading: line) {
                precondition(request == (try? RequestLine(reading: reread(try? request.text()))))
            }
            if let answer = try? AnswerLine(reading: line) {
                precondition(answer == (try? AnswerLine(reading: reread(try? answer.text()))))
            }
        }
    }
    fuzzFields(bytes)
}

/// Takes `bytes` for what is inside: whatever can be written can be read.
private func fuzzFields(_ bytes: UnsafeRawBufferPointer) {
    let (body, text) = (Array(bytes), String(decoding: bytes, as: UTF8.self))
    let request = RequestLine(id: .max, request: LookupRequest(url: "https://a.test", userAgent: "a", body: body))
    if let line = try? request.text() { precondition(request == (try? RequestLine(reading: reread(line)))) }
    for outcome in [LookupOutcome.answered(.init(status: 200, body: body)), .failed(reason: text)] {
        guard let line = try? AnswerLine(id: 0, outcome: outcome).text() else { continue }
        precondition((try? AnswerLine(reading: reread(line))) != nil)
    }
}

private func reread(_ line: String?) -> [UInt8] { Array((line ?? "").utf8.dropLast()) }
