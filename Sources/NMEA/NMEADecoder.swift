/// From the bytes of a receiver to what it says, without clocks or sockets.
package struct NMEADecoder: Sendable {
    private var reader = SentenceReader()
    private var assembler = EpochAssembler()

    package init() {}

    /// Whether an epoch waits for more bytes, or for ``EpochAssembler/silence``.
    package var isWaiting: Bool { assembler.isWaiting }

    /// How many sentences there have been that noise cannot be taken for: those with a right checksum, or, of a
    /// receiver that sends none, those that are read.
    package var soundSentences: Int { max(reader.soundSentences, readSentences) }

    private var readSentences = 0

    /// Takes what has been read in one piece.
    ///
    /// - Returns: what the epochs that it ends came to, in order.
    package mutating func decode(_ bytes: UnsafeRawBufferPointer) -> [NMEASolution] {
        var solutions: [NMEASolution] = []
        reader.read(bytes) { text in
            guard let sentence = Sentence(text) else { return }
            readSentences &+= 1
            if let solution = assembler.add(sentence) { solutions.append(solution) }
        }
        if !reader.isWithinSentence, let solution = assembler.inputDrained() { solutions.append(solution) }
        return solutions
    }

    /// Ends the epoch after ``EpochAssembler/silence`` without a byte.
    package mutating func silenceFell() -> NMEASolution? { assembler.silenceFell() }
}
