import Testing

@testable import KeyFile

@Suite struct KeyFileDocumentTests {
    private func document(_ text: String) -> KeyFileDocument { KeyFileDocument(text, file: "x.conf") }

    private func document(_ bytes: [UInt8]) -> KeyFileDocument {
        bytes.withUnsafeBytes { KeyFileDocument($0, file: "x.conf") }
    }

    private func pairs(_ document: KeyFileDocument) -> [String] {
        document.entries.map { "[\($0.group)] \($0.key)=\($0.value.text)" }
    }

    @Test("every entry knows its file and line")
    func places() {
        let read = document("# one\n\n[a]\nx=1\n\n  [b]  \ny = 2\n")

        #expect(pairs(read) == ["[a] x=1", "[b] y=2"])
        #expect(read.entries.map(\.place.line) == [4, 7])
        #expect(read.headers.map(\.place.line) == [3, 6])
        #expect(read.entries.allSatisfy { $0.place.file == "x.conf" })
        #expect(read.faults == [])
    }

    @Test("white space around the sign, the key and the value does not count")
    func whiteSpace() {
        #expect(pairs(document("[a]\n\t key \t= \t some text \t\n")) == ["[a] key=some text"])
    }

    @Test("a byte order mark, carriage returns and a missing last newline are no part of the text")
    func foreignEditors() {
        let read = document([0xEF, 0xBB, 0xBF] + Array("[a]\r\nx=1\r\ny=2".utf8))

        #expect(pairs(read) == ["[a] x=1", "[a] y=2"])
        #expect(read.faults == [])
    }

    @Test("a value may contain signs and hashes, and may be empty")
    func signsInValues() {
        #expect(pairs(document("[a]\nu=https://h/?a=b#c\ne=\n")) == ["[a] u=https://h/?a=b#c", "[a] e="])
    }

    @Test("localized keys are left out")
    func localizedKeys() {
        let read = document("[a]\nname=plain\nname[de]=deutsch\nname[de_AT@euro]=auch\n")

        #expect(pairs(read) == ["[a] name=plain"])
        #expect(read.faults == [])
    }

    @Test("a name longer than any application's names no group, so that no line costs more than its own length")
    func longName() {
        let (long, longer) = (String(repeating: "g", count: 512), String(repeating: "g", count: 513))

        let read = document("[\(long)]\nx=1\n[\(longer)]\nx=2\nx\n[b]\ny=3\n")

        #expect(pairs(read) == ["[\(long)] x=1", "[b] y=3"])
        #expect(read.faults.map(\.problem) == [.badHeader, .notAnEntry])
        #expect(read.faults.allSatisfy { $0.group == nil && $0.hidesEntries })
    }

    @Test("a group may come twice, and keys may repeat: all of it is kept in order")
    func repetition() {
        let read = document("[a]\nx=1\n[b]\ny=2\n[a]\nx=3\n")

        #expect(pairs(read) == ["[a] x=1", "[b] y=2", "[a] x=3"])
    }

    @Test(
        "a line that cannot be read is a fault with its number, and the others still count",
        arguments: [
            ("just words", ConfigurationFault.Problem.notAnEntry),
            ("=value", .notAnEntry),
            ("[]", .badHeader),
            ("[a", .badHeader),
            ("[a] b", .badHeader),
            ("[a[b]]", .badHeader),
        ])
    func unreadableLine(line: String, problem: ConfigurationFault.Problem) {
        let read = document("[a]\nx=1\n\(line)\n[b]\ny=2\n")

        #expect(pairs(read) == ["[a] x=1", "[b] y=2"])
        #expect(read.faults.map(\.problem) == [problem])
        #expect(read.faults.map(\.place.line) == [3])
    }

    @Test("entries below a header that cannot be read belong to nobody, not to the group before it")
    func belowBadHeader() {
        let read = document("[a]\nx=1\n[b\nallowed=true\n[c]\nz=3\n")

        #expect(pairs(read) == ["[a] x=1", "[c] z=3"])
        #expect(read.faults.map(\.problem) == [.badHeader])
    }

    @Test("an entry before the first group is a fault")
    func outsideGroup() {
        let read = document("x=1\n[a]\ny=2\n")

        #expect(pairs(read) == ["[a] y=2"])
        #expect(read.faults.map(\.problem) == [.outsideGroup])
    }

    @Test("bytes that are not UTF-8 are a fault in an entry and none in a comment")
    func invalidUTF8() {
        let read = document(
            Array("# caf".utf8) + [0xE9] + Array("\n[a]\nx=".utf8) + [0xFF, 0xFE] + Array("\ny=2\n".utf8))

        #expect(pairs(read) == ["[a] y=2"])
        #expect(read.faults.map(\.problem) == [.invalidUTF8])
        #expect(read.faults.map(\.place.line) == [3])
    }

    @Test("a NUL byte makes its line a fault, since a path would end there")
    func nul() {
        let read = document("[a]\nx=/tmp/\u{0}evil\ny=2\n")

        #expect(pairs(read) == ["[a] y=2"])
        #expect(read.faults.map(\.problem) == [.containsNUL])
    }

    @Test("a file at the size limit is read and one beyond it is not")
    func sizeLimit() {
        let entry = "[a]\nx=1\n"
        let padding = String(repeating: "#", count: KeyFileDocument.sizeLimit - entry.utf8.count)

        #expect(pairs(document(entry + padding)) == ["[a] x=1"])
        #expect(document(entry + padding + "#").entries == [])
        #expect(document(entry + padding + "#").faults.map(\.problem) == [.tooLarge(limit: 1_048_576)])
    }

    @Test("whatever the bytes are, reading ends and names no line that the file does not have")
    func anyBytes() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("[]=#;\\ \t\r\n\u{0}ax1".utf8) + [0xC3, 0xA9, 0xFF, 0xEF, 0xBB, 0xBF]
        for length in 0..<400 {
            let bytes = (0..<length).map { _ in alphabet.randomElement(using: &random)! }
            let lines = bytes.count { $0 == 0x0A } + 1

            let read = document(bytes)

            #expect(read.entries.allSatisfy { (1...lines).contains($0.place.line ?? 0) }, "\(bytes)")
            #expect(read.faults.allSatisfy { (1...lines).contains($0.place.line ?? 0) }, "\(bytes)")
            bytes.withUnsafeBytes { fuzzKeyFile($0) }
        }
    }
}
