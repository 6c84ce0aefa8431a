import Testing

@testable import LookupProtocol

struct RequestLineTests {
    private static let good = LookupRequest(
        url: "https://api.example.org/v1/geolocate?key=k", userAgent: "Whereabouts/1 (debian 12)",
        body: Array("{\"wifiAccessPoints\":[],\"näme\":\"\u{1}\"}".utf8))

    private func changed(_ change: (inout LookupRequest) -> Void) -> RequestLine {
        var request = Self.good
        change(&request)
        return RequestLine(id: 7, request: request)
    }

    @Test("a request comes out of its line as it went in")
    func roundTrip() throws {
        let request = RequestLine(id: .max, request: Self.good)

        let text = try request.text()

        #expect(text.last == "\n" && text.dropLast().allSatisfy { !$0.isNewline })
        #expect(try RequestLine(reading: Array(text.utf8.dropLast())) == request)
    }

    @Test("a nickname goes along where there is one")
    func nickname() throws {
        let request = changed { $0.nickname = "Jo \"the boat\"" }

        #expect(try RequestLine(reading: Array(request.text().utf8.dropLast())) == request)
    }

    @Test("the largest request that is allowed fits, whatever has to be escaped")
    func largest() throws {
        let request = changed {
            $0.url = "https://" + String(repeating: "\"", count: LookupLimits.url - 8)
            $0.userAgent = String(repeating: "\\", count: LookupLimits.userAgent)
            $0.nickname = String(repeating: "\"", count: LookupLimits.nickname)
            $0.body = Array(repeating: 1, count: LookupLimits.requestBody)
        }

        #expect(try RequestLine(reading: Array(request.text().utf8.dropLast())) == request)
    }

    @Test("what could change the head of an HTTP request, is too long, or is no JSON text, is not written")
    func refusedWhenWriting() {
        #expect(throws: LookupLineFault.invalid("url")) { try changed { $0.url = "https://a b" }.text() }
        #expect(throws: LookupLineFault.invalid("url")) { try changed { $0.url = "https://ä" }.text() }
        #expect(throws: LookupLineFault.invalid("url")) { try changed { $0.url = "" }.text() }
        #expect(throws: LookupLineFault.invalid("url")) {
            try changed { $0.url = String(repeating: "a", count: LookupLimits.url + 1) }.text()
        }
        #expect(throws: LookupLineFault.invalid("user-agent")) { try changed { $0.userAgent = "a\r\nX: y" }.text() }
        #expect(throws: LookupLineFault.invalid("user-agent")) {
            try changed { $0.userAgent = String(repeating: "a", count: LookupLimits.userAgent + 1) }.text()
        }
        for nickname in ["", "ö", "a\r\nX: y", String(repeating: "a", count: LookupLimits.nickname + 1)] {
            #expect(throws: LookupLineFault.invalid("nickname")) { try changed { $0.nickname = nickname }.text() }
        }
        #expect(throws: LookupLineFault.invalid("body")) { try changed { $0.body = [0xC3, 0x28] }.text() }
        #expect(throws: LookupLineFault.invalid("body")) { try changed { $0.body = [0] }.text() }
        #expect(throws: LookupLineFault.invalid("body")) {
            try changed { $0.body = Array(repeating: 0x20, count: LookupLimits.requestBody + 1) }.text()
        }
    }

    @Test(
        "a line with anything missing, added, out of range or of another type is refused with its reason",
        arguments: [
            ("", LookupLineFault.notJSON),
            ("{\"version\":1", .notJSON),
            ("[1]", .notAnObject),
            ("{\"a\":{}}", .notJSON),
            ("{}", .unknownVersion(nil)),
            ("{\"version\":\"1\"}", .unknownVersion(nil)),
            ("{\"version\":2,\"what\":0}", .unknownVersion(2)),
            ("{\"version\":1}", .missing("id")),
            ("{\"version\":1,\"id\":-1}", .invalid("id")),
            ("{\"version\":1,\"id\":4294967296}", .invalid("id")),
            ("{\"version\":1,\"id\":1.0}", .invalid("id")),
            ("{\"version\":1,\"id\":1}", .missing("url")),
            ("{\"version\":1,\"id\":1,\"url\":7}", .invalid("url")),
            ("{\"version\":1,\"id\":1,\"url\":\"u\"}", .missing("user-agent")),
            ("{\"version\":1,\"id\":1,\"url\":\"u\",\"user-agent\":\"a\"}", .missing("body")),
            ("{\"version\":1,\"id\":1,\"url\":\"u\",\"user-agent\":\"a\\n\",\"body\":\"\"}", .invalid("user-agent")),
            ("{\"version\":1,\"id\":1,\"url\":\"u\",\"user-agent\":\"a\",\"body\":\"\",\"x\":1}", .unexpected),
            (
                "{\"version\":1,\"id\":1,\"url\":\"u\",\"user-agent\":\"a\",\"body\":\"\",\"nickname\":null}",
                .invalid("nickname")
            ),
        ])
    func refusedWhenReading(line: String, fault: LookupLineFault) {
        #expect(throws: fault) { try RequestLine(reading: Array(line.utf8)) }
    }

    @Test("a line beyond the limit is not even parsed")
    func tooLong() {
        let line = Array(repeating: UInt8(ascii: " "), count: LookupLimits.requestLine + 1)

        #expect(throws: LookupLineFault.tooLong(limit: LookupLimits.requestLine)) { try RequestLine(reading: line) }
    }

    @Test("a fault's text holds nothing of the line")
    func silence() {
        let line = "{\"version\":1,\"id\":1,\"url\":\"secret key\",\"user-agent\":\"a\",\"body\":\"\"}"

        let fault = #expect(throws: LookupLineFault.self) { try RequestLine(reading: Array(line.utf8)) }

        #expect(fault?.description == "“url” is not valid")
    }
}
