import Testing

@testable import LookupProtocol

struct AnswerLineTests {
    private func reread(_ answer: AnswerLine) throws -> AnswerLine {
        try AnswerLine(reading: Array(answer.text().utf8.dropLast()))
    }

    @Test(
        "an answer comes out of its line as it went in",
        arguments: [
            LookupOutcome.answered(.init(status: 200, body: Array("{\"accuracy\":30}\r\n\u{1F}ä".utf8))),
            .answered(.init(status: 503, retryAfter: .max, body: [])),
            .answered(.init(status: 100, retryAfter: 0, body: [])),
            .failed(reason: "Timeout was reached"),
        ])
    func roundTrip(outcome: LookupOutcome) throws {
        #expect(try reread(AnswerLine(id: 9, outcome: outcome)) == AnswerLine(id: 9, outcome: outcome))
    }

    @Test("the largest answer that is allowed fits, whatever has to be escaped")
    func largest() throws {
        let body = [UInt8](repeating: 1, count: LookupLimits.answerBody)
        let answer = AnswerLine(id: .max, outcome: .answered(.init(status: 200, retryAfter: .max, body: body)))

        #expect(try reread(answer) == answer)
    }

    @Test("bytes of a body that JSON cannot hold become U+FFFD")
    func repaired() throws {
        let answer = AnswerLine(id: 1, outcome: .answered(.init(status: 404, body: [0x61, 0xFF, 0x62, 0, 0x63])))

        let body = Array("a\u{FFFD}b\u{FFFD}c".utf8)
        #expect(try reread(answer).outcome == .answered(.init(status: 404, body: body)))
    }

    @Test("a body that is too long, or becomes so by that, is not written")
    func tooLong() {
        for body in [
            [UInt8](repeating: 0x61, count: LookupLimits.answerBody + 1),
            [UInt8](repeating: 0xFF, count: LookupLimits.answerBody),
        ] {
            let answer = AnswerLine(id: 1, outcome: .answered(.init(status: 200, body: body)))
            #expect(throws: LookupLineFault.invalid("body")) { try answer.text() }
        }
    }

    @Test(
        "a line with anything missing, added, out of range or of another type is refused with its reason",
        arguments: [
            ("null", LookupLineFault.notAnObject),
            ("{\"version\":0,\"id\":1}", .unknownVersion(0)),
            ("{\"version\":1,\"id\":1}", .missing("status")),
            ("{\"version\":1,\"id\":1,\"status\":99,\"body\":\"\"}", .invalid("status")),
            ("{\"version\":1,\"id\":1,\"status\":1000,\"body\":\"\"}", .invalid("status")),
            ("{\"version\":1,\"id\":1,\"status\":200}", .missing("body")),
            ("{\"version\":1,\"id\":1,\"status\":200,\"body\":{}}", .notJSON),
            ("{\"version\":1,\"id\":1,\"status\":200,\"body\":null}", .invalid("body")),
            ("{\"version\":1,\"id\":1,\"status\":200,\"retry-after\":-1,\"body\":\"\"}", .invalid("retry-after")),
            ("{\"version\":1,\"id\":1,\"failure\":\"a\\u0007\"}", .invalid("failure")),
            ("{\"version\":1,\"id\":1,\"failure\":\"\"}", .invalid("failure")),
            ("{\"version\":1,\"id\":1,\"failure\":\"no\",\"status\":200}", .unexpected),
        ])
    func refused(line: String, fault: LookupLineFault) {
        #expect(throws: fault) { try AnswerLine(reading: Array(line.utf8)) }
    }
}

struct LineBufferTests {
    private func append(_ text: String, to buffer: inout LineBuffer) {
        Array(text.utf8).withUnsafeBytes { buffer.append($0) }
    }

    @Test("lines are whole however they are cut")
    func pieces() throws {
        var buffer = LineBuffer(limit: 10)
        var found: [String] = []

        for piece in ["on", "e\n", "\ntwo\nth", "ree", "\nrest"] {
            append(piece, to: &buffer)
            while let line = try buffer.next() { found.append(String(decoding: line, as: UTF8.self)) }
        }

        #expect(found == ["one", "", "two", "three"])
    }

    @Test("a line of the limit is taken; a longer one is a fault before its end has come")
    func limit() throws {
        var buffer = LineBuffer(limit: 3)

        append("123\n123", to: &buffer)
        #expect(try buffer.next() == Array("123".utf8))
        #expect(try buffer.next() == nil)
        append("4", to: &buffer)

        #expect(throws: LookupLineFault.tooLong(limit: 3)) { try buffer.next() }
    }

    @Test("a long line that comes whole is a fault, too")
    func whole() {
        var buffer = LineBuffer(limit: 3)

        append("1234\n", to: &buffer)

        #expect(throws: LookupLineFault.tooLong(limit: 3)) { try buffer.next() }
    }
}
