import Geolocation

/// What the levels below `exact` see: one cell a level for the whole daemon, looked at on a ten-minute tick.
///
/// Nothing of a fine fix gets through but the cell that it lies in and the tick, so neither averaging nor the timing of
/// changes tells more. The first fix makes the cell at once; from then on the tick governs changes. Fixes that are
/// coarse by kind pass as they are.
///
/// Ticks are the system clock's multiples of ten minutes, but when the next one comes is measured on the monotonic
/// clock from the one before it: a step of the system clock neither repeats a tick nor skips one.
package struct CoarseCells: Sendable {
    package static let tick = Duration.seconds(600)

    /// What each level sees now; nothing before there has been a fix.
    package private(set) var visible: [AccuracyLevel: Position.Coarse] = [:]

    private var levels = CoarseGrid.levels.map { LevelState(level: $0) }
    private var pausedAt: Duration?

    private struct LevelState: Sendable {
        let level: AccuracyLevel
        var kept: Kept?
        /// Whether the level sees the kept cell, not a fix that is coarse by kind.
        var showsCell = false
    }

    private struct Kept: Sendable {
        var cell: CoarseGrid.Cell
        var fix: CoarseFix
        /// The monotonic time from which the cell is to be looked at again.
        var due: Duration
        /// After a long pause the next look counts as the first.
        var isOutdated = false
    }

    package init() {}

    /// The monotonic time at which the current fix is to be considered again, come a new one or not.
    ///
    /// - Returns: `nil` while no level sees a cell. In the past, if there was no fix to look at: the next one is then
    ///   looked at as it comes.
    package var nextLook: Duration? {
        levels.lazy.filter(\.showsCell).compactMap { $0.kept?.due }.min()
    }

    /// Takes from the picked fix what each level may see of it.
    ///
    /// - Returns: whether any level sees something else than before.
    package mutating func consider(_ fix: Fix, at now: Duration, wallTime: Timestamp) -> Bool {
        var isChanged = false
        for index in levels.indices {
            if fix.isCoarseByKind(for: levels[index].level) {
                levels[index].showsCell = false
                isChanged = show(.asFound(fix), at: levels[index].level) || isChanged
                continue
            }
            look(at: fix, for: index, now: now, wallTime: wallTime)
            guard let cell = levels[index].kept?.fix else { continue }
            levels[index].showsCell = true
            isChanged = show(.cell(cell), at: levels[index].level) || isChanged
        }
        return isChanged
    }

    /// Says that nobody wants positions any more.
    package mutating func pause(at now: Duration) { pausedAt = now }

    /// Says that positions are wanted again. After more than a tick, the next fix is looked at as if it were the first.
    package mutating func resume(at now: Duration) {
        guard let pausedAt else { return }
        self.pausedAt = nil
        guard now - pausedAt > Self.tick else { return }
        for index in levels.indices { levels[index].kept?.isOutdated = true }
    }

    /// Shows nothing until the next fix: the machine may have been carried anywhere. What was kept is kept, so that this
    /// brings no tick forward.
    package mutating func hide() {
        visible = [:]
        for index in levels.indices { levels[index].showsCell = false }
    }

    private mutating func show(_ coarse: Position.Coarse, at level: AccuracyLevel) -> Bool {
        guard visible[level] != coarse else { return false }
        visible[level] = coarse
        return true
    }

    /// Makes the cell that `fix` lies in the kept one, if that is due.
    private mutating func look(at fix: Fix, for index: Int, now: Duration, wallTime: Timestamp) {
        let level = levels[index].level
        let kept = levels[index].kept
        if let kept, now < kept.due, !kept.isOutdated { return }
        guard let cell = CoarseGrid.cell(containing: fix.coordinate, at: level), let radius = level.coarseRadius
        else { return }
        let isFirst = kept?.isOutdated ?? true
        let due = now + Self.untilNextTick(wallTime, isFirst: isFirst)
        if !isFirst, let kept, kept.cell == cell, kept.fix.isSimulated == fix.isSimulated {
            levels[index].kept?.due = due
            return
        }
        let coarse = CoarseFix(
            coordinate: cell.center, radius: radius, timestamp: Self.tick(at: wallTime), isSimulated: fix.isSimulated)
        levels[index].kept = Kept(cell: cell, fix: coarse, due: due)
    }

    // MARK: Ticks

    /// How far a slewed system clock may lag behind the monotonic one over a tick.
    private static let tolerance: Int64 = 1_000_000

    /// The tick at or before `wallTime`.
    private static func tick(at wallTime: Timestamp) -> Timestamp {
        let time = wallTime.microseconds + tolerance
        return Timestamp(microseconds: time - time.modulo(tick.wholeMicroseconds))
    }

    /// From `wallTime` to the next tick; from one tick to the next between a half and one and a half, to come back to
    /// the system clock's multiples of ten minutes after a step.
    private static func untilNextTick(_ wallTime: Timestamp, isFirst: Bool) -> Duration {
        let rest = tick - .microseconds(wallTime.microseconds.modulo(tick.wholeMicroseconds))
        return !isFirst && rest < tick / 2 ? rest + tick : rest
    }
}

extension Fix {
    /// Whether what finds such fixes knows no more than `level` may.
    ///
    /// A satellite fix that merely claims a large radius is fine all the same.
    fileprivate func isCoarseByKind(for level: AccuracyLevel) -> Bool {
        switch kind {
        case .ip, .timezone: true
        case .fixed: level.coarseRadius.map { (horizontalAccuracy ?? 0) >= $0 } ?? false
        case .gnss, .wifi, .cell: false
        }
    }
}

extension Int64 {
    /// The remainder of the division rounded down: never negative.
    fileprivate func modulo(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
