/// Finds NMEA 0183 sentences in a stream of bytes, in constant memory.
///
/// Whatever is no sentence (comments, binary packets of other protocols, noise) is skipped up to the next `$`.
package struct SentenceReader: Sendable {
    /// Longest sentence that is kept, in bytes. NMEA 0183 4.1, 5.3.1 allows 82; receivers with many fields send more.
    package static let longest = 200

    private var sentence: [UInt8] = []
    private var checksum = Checksum()
    /// How many sentences with a right checksum there have been. Receivers older than the rule send none at all.
    private(set) var soundSentences = 0

    private enum Checksum {
        /// Not within a sentence.
        case outside
        /// Before the `*`: the exclusive or of all bytes so far.
        case summing(UInt8)
        /// After the `*`: that sum, the digits' value so far, and how many they are.
        case reading(UInt8, UInt8, count: Int)

        init() { self = .outside }
    }

    package init() {}

    /// Whether the last bytes are the beginning of a sentence whose rest is still to come.
    package var isWithinSentence: Bool {
        if case .outside = checksum { false } else { true }
    }

    /// Hands each sound sentence to `body`: what stands between `$` and `*`, or the end of the line.
    package mutating func read(_ bytes: UnsafeRawBufferPointer, _ body: (ArraySlice<UInt8>) -> Void) {
        for byte in bytes {
            switch (byte, checksum) {
            case (UInt8(ascii: "$"), _):
                sentence.removeAll(keepingCapacity: true)
                checksum = .summing(0)
            case (_, .outside):
                continue
            case (UInt8(ascii: "\n"), _), (UInt8(ascii: "\r"), _):
                finish(body)
                checksum = .outside
            case (0x20...0x7E, .summing(let sum)) where sentence.count < Self.longest:
                if byte == UInt8(ascii: "*") {
                    checksum = .reading(sum, 0, count: 0)
                } else {
                    sentence.append(byte)
                    checksum = .summing(sum ^ byte)
                }
            case (_, .reading(let sum, let value, let count)) where count < 2:
                guard let digit = byte.hexDigit else {
                    checksum = .outside
                    continue
                }
                checksum = .reading(sum, value << 4 | digit, count: count + 1)
            case (UInt8(ascii: " "), .reading):
                continue
            default:
                checksum = .outside
            }
        }
    }

    private mutating func finish(_ body: (ArraySlice<UInt8>) -> Void) {
        switch checksum {
        case .reading(let sum, let value, count: 2) where sum == value:
            soundSentences &+= 1
            body(sentence[...])
        case .summing where soundSentences == 0:
            body(sentence[...])
        default:
            break
        }
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
