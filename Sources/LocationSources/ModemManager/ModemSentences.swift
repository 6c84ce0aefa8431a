import Geolocation
import NMEA

/// Finds what is new in the sentences that a modem tells: the newest one of each kind, of whatever moment each is,
/// again and again.
struct ModemSentences {
    /// More than any receiver says, in bytes; a longer text is left alone.
    private static let longest = 16 << 10
    /// A receiver that has gone back in time is not believed before nothing new has come for so long.
    private static let doubt = Duration.seconds(10)

    private var lastText = ""
    private var reader = SentenceReader()
    private var assembler = EpochAssembler()
    /// The moment that was told last, and when.
    private var told: (moment: TimeOfDay, at: Duration)?

    /// - Parameter text: sentences with CR LF between them.
    /// - Returns: what the newest moment comes to, if it has not been told.
    mutating func solution(in text: String, at now: Duration) -> NMEASolution? {
        guard text != lastText, text.utf8.count <= Self.longest else { return nil }
        lastText = text
        let sentences = sentences(in: text)
        let times = sentences.filter(\.isAboutPosition).compactMap(\.time)
        guard let moment = times.max(by: { $1.isAfter($0) }) else {
            // No receiver that has a fix has no time.
            return assemble(sentences)
        }
        if let told {
            guard moment != told.moment, moment.isAfter(told.moment) || now - told.at >= Self.doubt else { return nil }
        }
        told = (moment, now)
        return assemble(
            sentences.filter { $0.time == moment || $0.time == nil && !$0.isAboutPosition }
                + sentences.compactMap { $0.companion(of: moment) })
    }

    private mutating func sentences(in text: String) -> [Sentence] {
        var sentences: [Sentence] = []
        // The last one may be without its end.
        let lines = Array(text.utf8) + [UInt8(ascii: "\n")]
        lines.withUnsafeBytes { bytes in
            reader.read(bytes) { line in
                if let sentence = Sentence(line) { sentences.append(sentence) }
            }
        }
        return sentences
    }

    /// Two of a kind are the same moment in the words of two systems (`GP`, `GN`): one that has a fix is enough.
    private mutating func assemble(_ sentences: [Sentence]) -> NMEASolution? {
        var seen: Set<Sentence.Kind> = []
        let ordered = sentences.filter { $0.validity == .fix } + sentences.filter { $0.validity != .fix }
        for sentence in ordered where sentence.kind == .gsa || seen.insert(sentence.kind).inserted {
            // What an addition ends has been told.
            _ = assembler.add(sentence)
        }
        return assembler.silenceFell()
    }
}

extension Sentence {
    /// How much older than the position a sentence may be whose speed, height and precision go with it: a modem that is
    /// asked within a burst has no newer one.
    private static let companionship: Int64 = 2_000_000

    /// What is left of a sentence about a position right before `moment`.
    fileprivate func companion(of moment: TimeOfDay) -> Sentence? {
        guard let time, isAboutPosition, validity == .fix, time != moment, time.gap(to: moment) <= Self.companionship
        else { return nil }
        var rest = self
        (rest.time, rest.coordinate, rest.validity) = (nil, nil, nil)
        // Midnight lies in between.
        if time > moment { rest.date = nil }
        return rest
    }

    fileprivate var isAboutPosition: Bool {
        switch kind {
        case .gga, .rmc, .gns, .gll: true
        case .gsa, .gst, .vtg, .zda, .pgrme: false
        }
    }
}

extension TimeOfDay {
    /// Microseconds from this time to the next `other`.
    fileprivate func gap(to other: TimeOfDay) -> Int64 {
        let day: Int64 = 86_400_000_000
        return (other.microseconds - microseconds + day) % day
    }

    /// Whether it follows `other` by less than half a day, midnight in between or not.
    fileprivate func isAfter(_ other: TimeOfDay) -> Bool {
        self != other && other.gap(to: self) < 43_200_000_000
    }
}
