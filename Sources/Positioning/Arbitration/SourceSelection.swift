import Geolocation

/// Decides which sources run for a demand.
///
/// A level is a need, not a limit. For exact positions everything runs that can. For less, what is no finer than asked
/// for runs, and what costs nothing; something finer helps only if none of these meets the need, and a receiver is
/// powered only if nothing else does.
package enum SourceSelection {
    /// What is to be known of a source.
    package struct Candidate: Sendable {
        package var kind: Fix.Kind
        package var availableLevel: AccuracyLevel
        package var isRunning: Bool
        package var looksOnlyWhileRunning: Bool

        package init(
            kind: Fix.Kind, availableLevel: AccuracyLevel, isRunning: Bool = false, looksOnlyWhileRunning: Bool = false
        ) {
            self.kind = kind
            self.availableLevel = availableLevel
            self.isRunning = isRunning
            self.looksOnlyWhileRunning = looksOnlyWhileRunning
        }

        fileprivate var isAvailable: Bool { availableLevel > .none }
    }

    /// Which of the candidates run for a demand, in their order. Of other kinds than it may have, none does.
    package static func select(for demand: Demand?, among candidates: [Candidate]) -> [Bool] {
        guard let demand, let kinds = demand.kinds else {
            return select(for: demand?.level ?? .none, among: candidates)
        }
        var selected = select(for: demand.level, among: candidates.filter { kinds.contains($0.kind) })[...]
        return candidates.map { kinds.contains($0.kind) && selected.popFirst() ?? false }
    }

    /// Which of the candidates run for a need of `level`, in their order.
    package static func select(for level: AccuracyLevel, among candidates: [Candidate]) -> [Bool] {
        guard level > .none else { return candidates.map { _ in false } }
        var isSelected = candidates.map { $0.isAvailable && (level == .exact || $0.isWelcome(for: level)) }
        func isMet() -> Bool { zip(candidates, isSelected).contains { $1 && $0.availableLevel >= level } }

        if level < .exact, !isMet() {
            let finer = candidates.filter { $0.isAvailable && $0.kind != .gnss && $0.availableLevel > level }
            if let least = finer.map(\.availableLevel).min() {
                for (index, candidate) in candidates.enumerated() where candidate.kind != .gnss {
                    isSelected[index] = isSelected[index] || candidate.availableLevel == least
                }
            } else {
                for (index, candidate) in candidates.enumerated() where candidate.kind == .gnss {
                    isSelected[index] = candidate.isAvailable
                }
            }
        }
        // A source that has lost its hardware while it ran waits for it to come back, which it may see only while it runs.
        // So does one that has never had any, if nobody else would tell it.
        if level == .exact || !isMet() {
            for (index, candidate) in candidates.enumerated() where !candidate.isAvailable {
                isSelected[index] = candidate.isRunning || candidate.looksOnlyWhileRunning
            }
        }
        return isSelected
    }
}

extension SourceSelection.Candidate {
    /// Whether it runs for `level` whatever else there is.
    fileprivate func isWelcome(for level: AccuracyLevel) -> Bool {
        switch kind {
        case .fixed, .timezone: true
        case .gnss, .wifi, .cell, .ip: availableLevel <= level
        }
    }
}
