import LocationTestSupport
import Testing

@testable import NMEA

@Suite struct SentenceReaderTests {
    private func sentences(_ pieces: [[UInt8]]) -> [String] {
        var reader = SentenceReader()
        var found: [String] = []
        for piece in pieces {
            piece.withUnsafeBytes { reader.read($0) { found.append(String(decoding: $0, as: UTF8.self)) } }
        }
        return found
    }

    private func sentences(_ text: String) -> [String] { sentences([Array(text.utf8)]) }

    @Test("any line end closes a sentence", arguments: ["\r\n", "\n", "\r", "\n\r\n"] as [Sample])
    func lineEnds(end: Sample) {
        #expect(sentences("$GPTXT,a*02\(end.text)$GPTXT,b*01\(end.text)") == ["GPTXT,a", "GPTXT,b"])
    }

    @Test("a sentence is whole however it is cut into pieces")
    func pieces() {
        let bytes = Array("noise$GPTXT,a*02\r\n".utf8)
        for cut in bytes.indices {
            #expect(sentences([Array(bytes[..<cut]), Array(bytes[cut...])]) == ["GPTXT,a"])
        }
    }

    @Test("a sentence whose checksum does not fit is dropped", arguments: ["*00", "*0", "*", "*0G", "*021", "*02x"])
    func wrongChecksum(checksum: String) {
        #expect(sentences("$GPTXT,a\(checksum)\r\n$GPTXT,b*01\r\n") == ["GPTXT,b"])
    }

    @Test("small letters and spaces at the end do not spoil a checksum")
    func lenientChecksum() {
        #expect(sentences("$GPTXT,m*0e  \r\n") == ["GPTXT,m"])
    }

    @Test("sentences without a checksum count until the stream has had one")
    func missingChecksum() {
        #expect(sentences("$GPTXT,a\r\n$GPTXT,b*01\r\n$GPTXT,c\r\n") == ["GPTXT,a", "GPTXT,b"])
    }

    @Test("a wrong checksum is no checksum yet")
    func wrongIsNotHad() {
        #expect(sentences("$GPTXT,a*00\r\n$GPTXT,c\r\n") == ["GPTXT,c"])
    }

    @Test("a dollar sign in the middle of a line starts a new sentence")
    func tornSentence() {
        #expect(sentences("$GPGGA,1234$GPTXT,a*02\r\n") == ["GPTXT,a"])
    }

    @Test(
        "control characters and bytes above ASCII spoil a sentence",
        arguments: [0x00, 0x09, 0x7F, 0x80, 0xFF] as [UInt8])
    func controlCharacters(byte: UInt8) {
        let spoiled = Array("$GPTXT,".utf8) + [byte] + Array("a\r\n$GPTXT,b*01\r\n".utf8)

        #expect(sentences([spoiled]) == ["GPTXT,b"])
    }

    @Test("200 bytes are a sentence, 201 are none")
    func longest() {
        let fits = String(repeating: "a", count: 200)

        #expect(sentences("$\(fits)\n$\(fits)a\n$b\n") == [fits, "b"])
    }

    @Test("binary packets and comments between sentences are skipped")
    func binary() {
        let packet: [UInt8] = [0xB5, 0x62, 0x01, 0x07, 0x24, 0x00, 0xA0, 0xA2, 0x0D, 0x0A]

        #expect(sentences([Array("# log\n".utf8), packet, Array("$GPTXT,a*02\r\n".utf8), packet]) == ["GPTXT,a"])
    }

    @Test("a megabyte without a line end leaves nothing behind and hides nothing after it")
    func flood() {
        var pieces = Array(repeating: [UInt8](repeating: UInt8(ascii: "a"), count: 16384), count: 64)
        pieces[0][0] = UInt8(ascii: "$")
        pieces.append(Array("\n$GPTXT,a*02\n".utf8))

        #expect(sentences(pieces) == ["GPTXT,a"])
    }

    @Test("it knows whether a sentence has begun")
    func isWithinSentence() {
        var reader = SentenceReader()
        var states: [Bool] = []
        for piece in ["x", "$GPTXT", ",a*0", "2", "\r", "\n"] {
            Array(piece.utf8).withUnsafeBytes { reader.read($0) { _ in } }
            states.append(reader.isWithinSentence)
        }

        #expect(states == [false, true, true, true, false, false])
    }
}
