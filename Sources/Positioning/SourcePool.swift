import EventLoop
import Geolocation

/// The sources that there are, and which of them run.
@ServiceActor
final class SourcePool {
    /// Called with what a source says.
    var onReport: (@ServiceActor (SourceReport, SourceSlot) -> Void)?

    private var slots: [SourceSlot] = []
    private var hasDiscovered = false
    private var selection = Selection.settled
    private let clock: any Clock

    /// Sources may answer while they are being started, and what they say may ask for another selection.
    private enum Selection { case settled, underWay, overtaken }

    init(_ sources: [any LocationSource], clock: any Clock) {
        self.clock = clock
        slots = sources.map { newSlot($0) }
    }

    /// The finest level that any of them can serve.
    var availableLevel: AccuracyLevel { slots.map(\.source.availableLevel).max() ?? .none }

    /// Whether any of them could serve `demand`.
    func canServe(_ demand: Demand) -> Bool {
        slots.contains { $0.source.availableLevel > .none && demand.allows($0.source.kind) }
    }

    /// Whether the source of a fix runs, and would say so if the place were another one by now.
    func standsBehind(_ fix: Fix) -> Bool { slots.contains { $0.stands(behind: fix) } }

    /// Lets them look for their hardware.
    func discover() {
        hasDiscovered = true
        for slot in slots { slot.source.discover() }
    }

    /// Takes other sources from now on. Those that are among the present ones go on undisturbed, the others are stopped
    /// at once.
    ///
    /// - Returns: the names of those that have gone.
    func replace(_ sources: [any LocationSource]) -> [String] {
        let kept = slots.filter { slot in sources.contains { $0 === slot.source } }
        let gone = slots.filter { slot in !kept.contains { $0 === slot } }
        slots = sources.map { source in kept.first { $0.source === source } ?? newSlot(source) }
        for slot in gone { slot.end() }
        if hasDiscovered {
            for slot in slots where !kept.contains(where: { $0 === slot }) { slot.source.discover() }
        }
        return gone.map(\.source.name)
    }

    private func newSlot(_ source: any LocationSource) -> SourceSlot {
        let slot = SourceSlot(source)
        source.report = { [weak self, unowned slot] in self?.onReport?($0, slot) }
        return slot
    }

    /// Starts and stops sources until those run that `demand` needs.
    ///
    /// - Parameter demand: asked for anew whenever a source has answered.
    func select(for demand: () -> Demand?) {
        guard selection == .settled else { return selection = .overtaken }
        // A source that changes its mind each time it is started or stopped is left as it is in the end.
        for _ in 0...slots.count {
            selection = .underWay
            let candidates = slots.map(\.candidate)
            let selected = SourceSelection.select(for: demand(), among: candidates)
            for (slot, isSelected) in zip(slots, selected) where selection == .underWay {
                slot.run(for: isSelected ? demand() : nil, clock)
            }
            if selection == .underWay { break }
        }
        selection = .settled
    }

    /// Stops all of them without grace.
    func stop() { for slot in slots { slot.stop() } }

    /// Stops at once what runs on for nobody.
    func endGrace() { for slot in slots { slot.endGrace() } }
}
