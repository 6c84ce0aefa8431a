import EventLoop
import Geolocation

/// One source and what it was told.
@ServiceActor
final class SourceSlot {
    let source: any LocationSource
    /// Whether a fix has come since the source was started.
    var hasReported = false

    private var demand: Demand?
    private var grace: Timer?
    private var lastVerdict = Verdict.accept

    init(_ source: any LocationSource) { self.source = source }

    var candidate: SourceSelection.Candidate {
        SourceSelection.Candidate(
            kind: source.kind, availableLevel: source.availableLevel, isRunning: demand != nil && grace == nil,
            looksOnlyWhileRunning: source.looksOnlyWhileRunning)
    }

    /// Whether the source runs and `fix` is what it says.
    func stands(behind fix: Fix) -> Bool {
        demand != nil && hasReported && fix.isOf(source.name)
    }

    func run(for wanted: Demand?, _ clock: any Clock) {
        if let wanted {
            grace = nil
            tell(wanted)
        } else if demand != nil, grace == nil {
            guard source.stopGrace > .zero else { return tell(nil) }
            grace = clock.after(source.stopGrace) { [weak self] in
                self?.grace = nil
                self?.tell(nil)
            }
        }
    }

    /// Stops the source at once if it runs on for nobody.
    func endGrace() {
        if grace != nil { stop() }
    }

    /// Stops the source without grace.
    func stop() {
        grace = nil
        tell(nil)
    }

    /// Stops the source without grace, and hears no more of it.
    func end() {
        source.report = nil
        stop()
    }

    private func tell(_ wanted: Demand?) {
        guard wanted != demand else { return }
        if demand == nil { hasReported = false }
        demand = wanted
        source.run(for: wanted)
    }

    /// Logs a verdict that is not the last one's: a line for each change, not for each fix.
    func note(_ verdict: Verdict) {
        guard verdict != lastVerdict else { return }
        lastVerdict = verdict
        Log.debug("\(source.name): \(verdict)")
    }
}
