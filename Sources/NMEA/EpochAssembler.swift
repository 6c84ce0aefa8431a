/// Puts sentences together into one outcome for each epoch, as early as the receiver's habits allow.
///
/// An epoch is over when a sentence of another time comes, or one of a type that it has already, or nothing for
/// ``silence``. Once the same type has come last in two epochs running, an epoch is told as soon as it has that type.
package struct EpochAssembler {
    /// How long a receiver is quiet between two bursts at least.
    package static let silence = Duration.milliseconds(300)

    private var epoch: Epoch?
    private var learned: Sentence.Kind?
    private var lastBefore: Sentence.Kind?
    private var dates = DateTracker()
    private var hasBegun = false

    package init() {}

    /// Whether an epoch is still to be told.
    package var isWaiting: Bool { epoch.map { !$0.isTold && $0.isAboutPosition } ?? false }

    /// Takes the next sentence.
    ///
    /// - Returns: what the epoch before came to, if this sentence ends it and it has not been told.
    package mutating func add(_ sentence: Sentence) -> NMEASolution? {
        // The stream may begin in the middle of a burst: speed and errors without a time would go with the next one.
        guard hasBegun || !Epoch.Kinds.positions.isDisjoint(with: Epoch.Kinds(sentence.kind)) else { return nil }
        hasBegun = true
        if epoch?.accepts(sentence) == true {
            epoch?.add(sentence)
            return nil
        }
        let solution = finish()
        epoch = Epoch(sentence)
        return solution
    }

    /// Tells the epoch if the sentence that the receiver sends last is there.
    ///
    /// To be called when no more bytes are at hand, so that what came in one piece stays together in any case.
    package mutating func inputDrained() -> NMEASolution? {
        guard let learned, isWaiting, epoch?.contains(learned) == true else { return nil }
        epoch?.isTold = true
        return epoch.flatMap { dated($0) }
    }

    /// Ends the epoch after ``silence``.
    package mutating func silenceFell() -> NMEASolution? {
        let solution = finish()
        epoch = nil
        return solution
    }

    private mutating func finish() -> NMEASolution? {
        guard let epoch, epoch.isAboutPosition else { return nil }
        if epoch.last == lastBefore { learned = epoch.last }
        lastBefore = epoch.last
        return epoch.isTold ? nil : dated(epoch)
    }

    private mutating func dated(_ epoch: Epoch) -> NMEASolution? {
        guard case .fix(var fix) = epoch.solution else { return epoch.solution }
        fix.day = dates.day(of: epoch)
        return .fix(fix)
    }
}

/// Remembers the receiver's date for epochs that do not tell it.
private struct DateTracker {
    private var known: (day: CalendarDay, time: TimeOfDay)?
    private var century: Int?

    /// The day of an epoch that has a fix; dates without one may be anything.
    mutating func day(of epoch: Epoch) -> CalendarDay? {
        guard let time = epoch.time else { return nil }
        if case .full(let year) = epoch.date?.year { century = year / 100 }
        if let day = epoch.date?.resolve(century: century) {
            known = (day, time)
        } else if let (day, before) = known {
            let isAfterMidnight = time.microseconds < before.microseconds - 12 * 3_600_000_000
            known = (CalendarDay(sinceEpoch: day.sinceEpoch + (isAfterMidnight ? 1 : 0)), time)
        }
        return known?.day
    }
}
