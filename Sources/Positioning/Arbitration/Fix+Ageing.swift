import Geolocation

extension Fix {
    /// Whether it still counts.
    package func isLive(at now: Duration) -> Bool {
        kind.lifetime.map { now - measuredAt <= $0 } ?? true
    }

    /// Whether the source of that name found it, by whichever of its devices.
    func isOf(_ name: String) -> Bool {
        source == name || source.hasPrefix(name + ":")
    }

    /// Radius of uncertainty in metres, grown by what may have happened since the fix was measured.
    package func effectiveAccuracy(at now: Duration) -> Double {
        (horizontalAccuracy ?? 0) + driftSpeed * (now - measuredAt).seconds
    }

    /// By how many metres its effective accuracy grows in each second.
    private var driftSpeed: Double { kind.ages ? max(ArbitrationConstants.drift, speed ?? 0) : 0 }

    /// Whether it is a satellite fix so good and fresh that no other measurement takes its place.
    func isHeld(at now: Duration) -> Bool {
        isFreshReceiver(at: now) && (horizontalAccuracy ?? 0) <= ArbitrationConstants.receiverHoldAccuracy
    }

    /// Whether a receiver of one's own has taken it a moment ago.
    func isFreshReceiver(at now: Duration) -> Bool {
        kind == .gnss && !isForeign && now - measuredAt <= ArbitrationConstants.receiverHold
    }

    /// Whether it is a satellite fix that was clearly better when it was taken, so that it may replace another one even
    /// within its hold. By their ages two equal receivers in a fast car would take turns.
    func isBetterReceiver(than other: Fix) -> Bool {
        kind == .gnss
            && (horizontalAccuracy ?? 0) <= ArbitrationConstants.switchRatio * (other.horizontalAccuracy ?? 0)
    }

    /// Whether nothing could have come here from where `earlier` was taken, both radii allowed for.
    func isOutOfReach(of earlier: Fix) -> Bool {
        let gap =
            coordinate.distance(to: earlier.coordinate) - (horizontalAccuracy ?? 0) - (earlier.horizontalAccuracy ?? 0)
        return gap > ArbitrationConstants.maximumSpeed * max((measuredAt - earlier.measuredAt).seconds, 1)
    }

    /// When its effective accuracy becomes so much better than `current`'s that it takes its place. `nil`: never.
    ///
    /// Both grow evenly, so this is where two straight lines cross.
    func beats(_ current: Fix, after now: Duration) -> Duration? {
        let ratio = ArbitrationConstants.switchRatio
        let excess = effectiveAccuracy(at: now) - ratio * current.effectiveAccuracy(at: now)
        guard excess > 0 else { return now }
        let closing = ratio * current.driftSpeed - driftSpeed
        guard closing > 0 else { return nil }
        // No fix lives for more than a day, so whatever lies beyond that never comes.
        let seconds = excess / closing
        return seconds < 86_400 ? now + .seconds(seconds) : nil
    }
}
