/// From the bytes of a receiver to what it says, without clocks or sockets.
package struct NMEADecoder: Sendable {
    private var reader = SentenceReader()
    private var assembler = EpochAssembler()

    package init() {}

    /// Whether an epoch waits for more bytes, or for ``EpochAssembler/silence``.
    package var isWaiting: Bool { assembler.isWaiting }

    /// Takes what has been read in one piece.
    ///
    /// - Returns: what the epochs that it ends came to, in order.
    package mutating func decode(_ bytes: UnsafeRawBufferPointer) -> [NMEASolution] {
        var solutions: [NMEASolution] = []
        reader.read(bytes) { text in
            guard let sentence = Sentence(text), let solution = assembler.add(sentence) else { return }
            solutions.append(solution)
        }
        if !reader.isWithinSentence, let solution = assembler.inputDrained() { solutions.append(solution) }
        return solutions
    }

    /// Ends the epoch after ``EpochAssembler/silence`` without a byte.
    package mutating func silenceFell() -> NMEASolution? { assembler.silenceFell() }
}
