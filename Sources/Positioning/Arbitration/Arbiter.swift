import Geolocation

/// Keeps the best position known, judging each candidate as it comes.
///
/// Each source, and each device of a source, has one fix that stands for it. The one of the smallest effective accuracy
/// (its own plus what its age has cost) is picked, with some reluctance to change from one source to another. Nothing
/// is smoothed: receivers filter inside, and a filter here would hide staleness.
package struct Arbiter: Sendable {
    /// The fix picked last. It stays after it has expired or its source is gone, until another one is picked.
    package private(set) var current: Fix?

    /// How often ``current`` has been replaced: whoever compares it knows whether there is something to tell.
    package private(set) var picks: UInt64 = 0

    private var tracks: [Track] = []
    /// Which track ``current`` is of. `nil` if that source is gone.
    private var picked: Int?
    /// What was measured before this says nothing about where the machine is now.
    private var horizon = Duration.zero

    /// What is known of one source.
    fileprivate struct Track: Sendable {
        let source: String
        /// The fix that stands for the source.
        var latest: Fix?
        /// A fix too far from `latest` to be believed alone.
        var held: Fix?
        var order = TimeOrder()

        var newest: Fix? { held ?? latest }
    }

    package init() {}

    // MARK: Judging

    /// Judges a fix that has just come.
    ///
    /// The fix that is kept of it may differ: its radius is raised to what its kind can do, a stamp that cannot be right
    /// is replaced, and a receiver's missing speed and heading are worked out.
    ///
    /// - Parameters:
    ///   - now: the monotonic clock, by which ages go.
    ///   - wallTime: the system clock, by which stamps are checked.
    package mutating func consider(_ candidate: Fix, at now: Duration, wallTime: Timestamp) -> Verdict {
        var fix = candidate
        // A measurement of the future would be newer than all that follows.
        fix.measuredAt = min(fix.measuredAt, now)
        let age = now - fix.measuredAt
        if let reason = Self.correctAccuracy(of: &fix) { return .ignore(reason) }
        if let lifetime = fix.kind.lifetime, age > lifetime { return .ignore(.stale) }
        if fix.kind.measuresPlace, fix.measuredAt < horizon { return .ignore(.stale) }

        let index = trackIndex(for: fix.source, at: now)
        if let latest = tracks[index].latest, fix.measuredAt < latest.measuredAt { return .ignore(.older) }
        let arrival = Timestamp(microseconds: wallTime.microseconds - age.wholeMicroseconds)
        let stamp = TimeOrder.Stamp(fix.timestamp, arrival: arrival)
        guard tracks[index].order.admits(stamp, at: now) else { return .ignore(.olderStamp) }

        fix.timestamp = stamp.effective
        fix.dropImpossibleValues()
        if fix.kind == .gnss { fix.completeMovement(since: tracks[index].newest) }
        if isDoubtful(fix, from: tracks[index], at: now) {
            tracks[index].held = fix
            return .hold(.jump)
        }
        tracks[index].held = nil
        tracks[index].latest = fix
        tracks[index].order.follow(stamp)
        return choose(at: now, fresh: index)
    }

    /// Chooses again, since ages have changed. To be called at ``nextChange(after:)``.
    package mutating func reconsider(at now: Duration) {
        _ = choose(at: now, fresh: nil)
    }

    /// Forgets a source that is gone, and chooses among the others.
    package mutating func lose(_ source: String, at now: Duration) {
        guard let index = tracks.firstIndex(where: { $0.source == source }) else { return }
        remove(at: index)
        _ = choose(at: now, fresh: nil)
    }

    /// Forgets a source with all its devices.
    package mutating func loseAll(of name: String, at now: Duration) {
        for index in tracks.indices.reversed() where tracks[index].newest?.isOf(name) == true { remove(at: index) }
        _ = choose(at: now, fresh: nil)
    }

    /// Forgets every source, since the machine may have been carried anywhere: no old place holds a new one back, and
    /// no measurement from before counts any more, whenever it comes.
    package mutating func forgetAll(at now: Duration) {
        tracks = []
        picked = nil
        horizon = now
    }

    /// The current fix, if its source is still there and it has not expired.
    package func livePick(at now: Duration) -> Fix? {
        guard let picked, let fix = tracks[picked].latest, fix.isLive(at: now) else { return nil }
        return fix
    }

    // MARK: The gate

    /// Raises the radius to what the kind can do. A receiver that states none gets a default.
    private static func correctAccuracy(of fix: inout Fix) -> Verdict.IgnoreReason? {
        let stated = fix.horizontalAccuracy ?? (fix.kind == .gnss ? ArbitrationConstants.defaultReceiverAccuracy : nil)
        guard let stated else { return .noAccuracy }
        guard stated.isFinite, stated >= 0 else { return .invalidAccuracy }
        fix.horizontalAccuracy = max(stated, fix.kind.accuracyFloor)
        return nil
    }

    private mutating func trackIndex(for source: String, at now: Duration) -> Int {
        if let index = tracks.firstIndex(where: { $0.source == source }) { return index }
        // Devices come under ever new names: what has expired makes room.
        for index in tracks.indices.reversed() {
            if let newest = tracks[index].newest, !newest.isLive(at: now) { remove(at: index) }
        }
        tracks.append(Track(source: source))
        return tracks.count - 1
    }

    private mutating func remove(at index: Int) {
        tracks.remove(at: index)
        guard let picked else { return }
        self.picked = picked == index ? nil : picked > index ? picked - 1 : picked
    }

    // MARK: Jumps

    /// Whether a fix is to wait for the next one to agree with it.
    ///
    /// A lookup that jumps is doubted by itself, a receiver only where another source still sees us elsewhere.
    private func isDoubtful(_ fix: Fix, from track: Track, at now: Duration) -> Bool {
        guard fix.kind.measuresPlace, let latest = track.latest, latest.isLive(at: now),
            fix.isOutOfReach(of: latest)
        else { return false }
        if let held = track.held, !fix.isOutOfReach(of: held) { return false }
        return fix.kind != .gnss || tracks.contains { $0.source != track.source && $0.contradicts(fix, at: now) }
    }
}

// MARK: - Choosing

extension Arbiter {
    /// Picks the fix of the smallest effective accuracy, or stays with the current source.
    ///
    /// - Parameter fresh: the track whose fix is being judged.
    private mutating func choose(at now: Duration, fresh: Int?) -> Verdict {
        var reason = Verdict.IgnoreReason.notBetter
        var pick: Int?
        // A stranger never stands against a receiver of one's own, however well it speaks of itself.
        let hasReceiver = tracks.contains { $0.latest?.isFreshReceiver(at: now) == true }
        if let picked, let current = tracks[picked].latest, current.isLive(at: now), !(hasReceiver && current.isForeign)
        {
            let isHeld = current.isHeld(at: now)
            if isHeld { reason = .receiverHeld }
            let best = bestTrack(at: now) {
                !(hasReceiver && $0.isForeign)
                    && (!isHeld || $0.kind == .fixed || $0.isBetterReceiver(than: current))
            }
            pick = picked
            if let best, best != picked, let challenger = tracks[best].latest,
                challenger.effectiveAccuracy(at: now)
                    <= ArbitrationConstants.switchRatio * current.effectiveAccuracy(at: now)
            {
                pick = best
            }
        } else {
            pick = bestTrack(at: now) { !(hasReceiver && $0.isForeign) }
        }
        // With nothing left, the last position stays as it is.
        guard let pick else { return .ignore(.notBetter) }
        if pick != picked || pick == fresh {
            picked = pick
            current = tracks[pick].latest
            picks += 1
        }
        return pick == fresh ? .accept : .ignore(reason)
    }

    /// The live track of the smallest effective accuracy; of equal ones, the newest.
    private func bestTrack(at now: Duration, where isEligible: (Fix) -> Bool) -> Int? {
        var best: (index: Int, accuracy: Double, measuredAt: Duration)?
        for (index, track) in tracks.enumerated() {
            guard let fix = track.latest, fix.isLive(at: now), isEligible(fix) else { continue }
            let accuracy = fix.effectiveAccuracy(at: now)
            if let best, best.accuracy < accuracy { continue }
            if let best, best.accuracy == accuracy, best.measuredAt >= fix.measuredAt { continue }
            best = (index, accuracy, fix.measuredAt)
        }
        return best?.index
    }

    /// The earliest moment at which choosing again could pick another fix although none has come.
    ///
    /// - Returns: `nil` while the current fix has no rival.
    package func nextChange(after now: Duration) -> Duration? {
        guard let picked, let current = tracks[picked].latest, current.isLive(at: now) else { return nil }
        let receiverStands = tracks.compactMap(\.latest).filter { $0.isFreshReceiver(at: now) }.map {
            $0.measuredAt + ArbitrationConstants.receiverHold
        }.max()
        var earliest: Duration?
        for (index, track) in tracks.enumerated() where index != picked {
            guard let rival = track.latest, rival.isLive(at: now) else { continue }
            let expiry = current.kind.lifetime.map { current.measuredAt + $0 }
            var moment = expiry
            if var crossing = rival.beats(current, after: now) {
                if rival.kind != .fixed, current.isHeld(at: crossing) {
                    crossing = current.measuredAt + ArbitrationConstants.receiverHold
                }
                if rival.isForeign, let receiverStands { crossing = max(crossing, receiverStands) }
                moment = min(crossing, expiry ?? crossing)
            }
            if let moment { earliest = min(moment, earliest ?? moment) }
        }
        // The limits themselves still count as before: a little later they do not.
        return earliest.map { max($0, now) + .milliseconds(1) }
    }
}

extension Arbiter.Track {
    /// Whether this source saw the machine, and sees it still, where `fix` says that it is not.
    fileprivate func contradicts(_ fix: Fix, at now: Duration) -> Bool {
        guard let latest, latest.isLive(at: now), latest.kind != .ip, latest.kind != .timezone, !latest.isForeign else {
            return false
        }
        return latest.coordinate.distance(to: fix.coordinate)
            > latest.effectiveAccuracy(at: now) + (fix.horizontalAccuracy ?? 0)
    }
}
