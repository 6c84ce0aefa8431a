import EventLoop
import Geolocation

/// Makes one position out of many sources, and runs those that the demand needs.
///
/// It owns the best position known, which sources run, and the cells of coarser levels. While nothing is asked for, it
/// sets no timer.
@ServiceActor
package final class Positioner {
    /// Called with ``availableLevel`` when that has changed.
    package var onAvailabilityChange: (@ServiceActor (AccuracyLevel) -> Void)?

    /// Called while there is a demand, when another fix was picked or a level below `exact` sees something else.
    ///
    /// What has not changed is equal to what the call before it passed.
    package var onUpdate: (@ServiceActor (Position) -> Void)?

    /// Called with each fix that is picked as it comes, as it was judged: of what radius and what time. Those whose
    /// source has stated no accuracy are left out.
    package var onAcceptance: (@ServiceActor (Fix) -> Void)?

    /// The finest level that any source can serve. Never says whether there is a fix.
    package private(set) var availableLevel: AccuracyLevel

    /// Called with ``condition`` when that has changed.
    package var onConditionChange: (@ServiceActor (PositioningCondition) -> Void)?

    /// How it goes. That a fix has expired without a word of its source shows with the next tick.
    package var condition: PositioningCondition { steadyCondition.value }

    /// What all clients together want; `nil` if there are none.
    package var demand: Demand? {
        didSet {
            guard demand != oldValue else { return }
            if isSuspended { updateCondition() } else { wantedChanged(from: oldValue) }
        }
    }

    /// Whether the machine is about to sleep, or asleep: nothing runs, whatever is asked for.
    package private(set) var isSuspended = false

    /// Whose heading goes before that of fixes, while somebody wants exact ones.
    package var compass: (any HeadingFollowing)? {
        didSet {
            guard compass !== oldValue else { return }
            oldValue?.onChange = nil
            oldValue?.isWanted = false
            compass?.onChange = { [weak self] in self?.headingChanged() }
            heading = nil
            updateCompass()
        }
    }

    private let sources: SourcePool
    private let clock: any Clock
    private var arbiter = Arbiter()
    private var cells = CoarseCells()

    private var reconsideration: Alarm?
    private var look: Alarm?
    private let steadyCondition: SteadyCondition
    /// Whether those who ask have been given a position.
    private var isServed = false
    /// The compass's heading as it was told last, and the pick that it was told with: what is known stays the same until
    /// others are told, and no later fix has that heading.
    private var heading: (degrees: Double, pick: UInt64)?

    /// A timer and when it fires.
    private struct Alarm {
        let moment: Duration
        let timer: Timer
    }

    package init(sources: [any LocationSource], clock: any Clock) {
        self.clock = clock
        steadyCondition = SteadyCondition(clock)
        self.sources = SourcePool(sources, clock: clock)
        availableLevel = self.sources.availableLevel
        self.sources.onReport = { [weak self] in self?.receive($0, from: $1) }
        steadyCondition.onChange = { [weak self] in self?.conditionChanged(from: $0) }
    }

    /// Lets the sources look for their hardware.
    package func discover() { sources.discover() }

    /// Takes other sources from now on. Those that are among the present ones go on undisturbed; what goes is stopped
    /// at once, and what it found counts no more.
    package func replaceSources(_ others: [any LocationSource]) {
        let gone = sources.replace(others)
        if !gone.isEmpty {
            update { arbiter, now in
                for name in gone { arbiter.loseAll(of: name, at: now) }
            }
        }
        availabilityChanged()
    }

    // MARK: What is known

    /// What is known now. A fix is there, at whatever level, only as long as it has not expired and its source is there.
    package var position: Position { position(of: arbiter.livePick(at: clock.now)) }

    /// What levels see is not kept up while nobody asks: a fix that passes as it is counts only while it is the one picked.
    private func position(of pick: Fix?) -> Position {
        Position(fine: pick.map { turned($0) }, coarse: cells.visible.filter { $1.fix.map { $0 == pick } ?? true })
    }

    /// Whether the place is known so well without asking anybody that a lookup would add nothing: by a receiver of one's
    /// own within the last 10 s, or by a setting, to 50 m or as coarse as is asked for.
    package var isSharp: Bool {
        guard let fine = position.fine, let accuracy = fine.horizontalAccuracy, !fine.isForeign else { return false }
        switch fine.kind {
        case .gnss where clock.now - fine.measuredAt < .seconds(10), .fixed:
            return accuracy <= max(demand?.level.coarseRadius ?? 0, 50)
        default: return false
        }
    }

    /// What a client that starts now gets at once. Without anything for its level, the client waits for the next fix.
    ///
    /// A fix is handed on for a minute. A lookup's or a setting's answer stands for as long as its source runs, since
    /// that would report again if it had changed.
    package var startingPosition: Position {
        var position = position
        guard let fine = position.fine, clock.now - fine.measuredAt > ArbitrationConstants.maximumStartingAge
        else { return position }
        let stands = !fine.kind.ages || fine.kind != .gnss && sources.standsBehind(fine)
        if !stands { position.removeFix() }
        return position
    }

    // MARK: Reports

    private func receive(_ report: SourceReport, from slot: SourceSlot) {
        switch report {
        case .fix(let fix): if !isSuspended { consider(fix, from: slot) }
        case .lost(let source): update { $0.lose(source, at: $1) }
        case .availabilityChanged: availabilityChanged()
        }
    }

    private func consider(_ fix: Fix, from slot: SourceSlot) {
        slot.hasReported = true
        update { arbiter, now in
            let verdict = arbiter.consider(fix, at: now, wallTime: Timestamp(microseconds: clock.wallTime))
            slot.note(verdict)
            if verdict == .accept, fix.horizontalAccuracy != nil, let judged = arbiter.current { onAcceptance?(judged) }
        }
    }

    /// Changes what is known, and tells of it if another fix was picked.
    private func update(_ change: (inout Arbiter, Duration) -> Void) {
        let now = clock.now
        let picks = arbiter.picks
        let source = arbiter.current?.source
        change(&arbiter, now)
        guard wanted != nil else { return }
        setReconsideration(now)
        guard arbiter.picks != picks, let pick = arbiter.current else { return updateCondition() }
        if pick.source != source { Log.debug("the position comes from \(pick.source)") }
        _ = cells.consider(pick, at: now, wallTime: Timestamp(microseconds: clock.wallTime))
        setLook(now)
        isServed = true
        updateCondition()
        followCompass()
        tell(pick)
    }

    private func tell(_ pick: Fix) { onUpdate?(position(of: pick)) }

    private func availabilityChanged() {
        let level = sources.availableLevel
        let isChanged = level != availableLevel
        availableLevel = level
        select()
        if isChanged {
            Log.info("available accuracy level: \(level)")
            onAvailabilityChange?(level)
        }
        updateCondition()
    }

    // MARK: Timers

    /// Sees to it that the choice is made again when ages alone may change it.
    ///
    /// An alarm that is too early is left alone: fixes put the moment off all the time.
    private func setReconsideration(_ now: Duration) {
        guard let moment = arbiter.nextChange(after: now) else { return reconsideration = nil }
        if let reconsideration, reconsideration.moment <= moment { return }
        reconsideration = alarm(at: moment, now) { positioner in
            positioner.reconsideration = nil
            positioner.update { $0.reconsider(at: $1) }
        }
    }

    /// Sees to it that the cells are looked at on the next tick.
    private func setLook(_ now: Duration) {
        guard let moment = cells.nextLook, moment > now else { return look = nil }
        if let look, look.moment == moment { return }
        look = alarm(at: moment, now) { positioner in
            positioner.look = nil
            positioner.lookAgain()
        }
    }

    private func lookAgain() {
        let now = clock.now
        guard let pick = arbiter.livePick(at: now) else { return updateCondition() }
        let isChanged = cells.consider(pick, at: now, wallTime: Timestamp(microseconds: clock.wallTime))
        setLook(now)
        if isChanged { tell(pick) }
    }

    private func alarm(
        at moment: Duration, _ now: Duration, _ action: @escaping @ServiceActor (Positioner) -> Void
    ) -> Alarm {
        let timer = clock.after(moment - now) { [weak self] in
            if let self { action(self) }
        }
        return Alarm(moment: moment, timer: timer)
    }

    // MARK: Demand

    /// What is asked for, as far as anything may run for it.
    private var wanted: Demand? { isSuspended ? nil : demand }

    private func wantedChanged(from old: Demand?) {
        let now = clock.now
        if wanted == nil {
            reconsideration = nil
            look = nil
            cells.pause(at: now)
        } else if old == nil {
            // Nothing was chosen again while nobody asked.
            arbiter.reconsider(at: now)
            cells.resume(at: now)
            setReconsideration(now)
            setLook(now)
            isServed = startingPosition.fine != nil
        }
        select()
        updateCompass()
        updateCondition()
    }

    private func select() { sources.select { wanted } }

    /// Stops at once whatever runs on for nobody, to spare the next client its start: leave has been taken back.
    package func endGrace() { sources.endGrace() }

    // MARK: Sleep

    /// The machine is going to sleep: every source stops at once, and what still comes of them is not taken.
    package func suspend() {
        guard !isSuspended else { return }
        let old = wanted
        isSuspended = true
        sources.stop()
        if old != nil { wantedChanged(from: old) }
        updateCondition()
    }

    /// The machine is awake again, and may be anywhere: what was known of its place counts no more, and whatever is
    /// needed starts anew.
    package func resume() {
        guard isSuspended else { return }
        isSuspended = false
        arbiter.forgetAll(at: clock.now)
        cells.hide()
        if wanted != nil { wantedChanged(from: nil) }
        updateCondition()
    }

    // MARK: Compass

    private func updateCompass() {
        let isWanted = wanted?.level == .exact
        if let compass, compass.isWanted != isWanted { compass.isWanted = isWanted }
    }

    private func headingChanged() {
        guard wanted != nil, let pick = arbiter.livePick(at: clock.now), pick.takesHeading else { return }
        followCompass()
        tell(pick)
    }

    private func followCompass() {
        heading = compass?.heading.map { ($0, arbiter.picks) }
    }

    /// The fix picked last with the compass's heading, if there is one.
    private func turned(_ fix: Fix) -> Fix {
        guard let heading, heading.pick == arbiter.picks, fix.takesHeading else { return fix }
        var fix = fix
        fix.heading = heading.degrees
        return fix
    }

    // MARK: Condition

    private func updateCondition() { steadyCondition.become(presentCondition) }

    private var presentCondition: PositioningCondition {
        guard let demand else { return .idle }
        guard !isSuspended else { return .suspended }
        if isServed, arbiter.livePick(at: clock.now) != nil { return .delivering }
        return sources.canServe(demand) ? .acquiring : .noSource
    }

    private func conditionChanged(from old: PositioningCondition) {
        // Clients come and go as they like; that there is nothing for them is worth a line.
        if condition == .noSource {
            Log.notice("no source: nothing that could find a position is available")
        } else if old == .noSource {
            Log.notice("positioning: \(condition)")
        } else {
            Log.debug("positioning: \(condition)")
        }
        onConditionChange?(condition)
    }
}

extension Fix {
    /// Whether it is so fine that it matters which way the machine points.
    fileprivate var takesHeading: Bool { kind == .gnss || kind == .wifi }
}
