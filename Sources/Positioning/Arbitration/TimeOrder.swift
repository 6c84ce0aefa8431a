import Geolocation

/// Keeps the stamps of one source in order, without letting a wrong one block what follows it.
struct TimeOrder: Sendable {
    /// A fix's own stamp, and the one that it goes by.
    struct Stamp: Sendable {
        let own: Timestamp
        let effective: Timestamp

        /// Replaces a stamp that cannot be right, more than 5 s ahead of the system clock or more than a day from it,
        /// by the time at which the fix was measured by that clock: for a receiver, when it arrived.
        ///
        /// - Parameter wallTime: the system clock when the fix was measured.
        init(_ own: Timestamp, arrival wallTime: Timestamp) {
            let lead = Duration.microseconds(own.microseconds.subtractingClamped(wallTime.microseconds))
            let isCredible =
                lead <= ArbitrationConstants.maximumLead && lead >= .zero - ArbitrationConstants.maximumStampDifference
            self.own = own
            effective = isCredible ? own : wallTime
        }
    }

    private var last: Stamp?
    private var older: (count: Int, since: Duration)?

    /// Whether a fix of this stamp may follow the last one. A stamp equal to the last one may: receivers send several
    /// fixes a second with stamps of whole seconds.
    ///
    /// A stamp is older only if both its own and its effective time are: otherwise a clock that is set, or a receiver
    /// whose lead over the system clock grows past what is believed, would look like a step back in time.
    mutating func admits(_ stamp: Stamp, at now: Duration) -> Bool {
        guard let last, stamp.own < last.own, stamp.effective < last.effective else {
            older = nil
            return true
        }
        let run = older ?? (0, now)
        if run.count >= ArbitrationConstants.maximumOlderFixes
            || now - run.since >= ArbitrationConstants.maximumOlderTime
        {
            older = nil
            return true
        }
        older = (run.count + 1, run.since)
        return false
    }

    /// Makes `stamp` the one that the next has to follow.
    mutating func follow(_ stamp: Stamp) { last = stamp }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}
