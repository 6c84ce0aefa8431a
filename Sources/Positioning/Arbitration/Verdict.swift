/// What the arbiter makes of one candidate.
package enum Verdict: Sendable, Equatable {
    /// It is the position now.
    case accept
    /// It waits for the next fix of its source to agree with it.
    case hold(HoldReason)
    /// It is not the position.
    case ignore(IgnoreReason)

    package enum HoldReason: Sendable, Equatable {
        /// Nothing could have moved there in the time since the source's last fix.
        case jump
    }

    package enum IgnoreReason: Sendable, Equatable {
        /// A source other than a receiver stated no accuracy.
        case noAccuracy
        /// The accuracy is negative, infinite or not a number.
        case invalidAccuracy
        /// It was measured longer ago than fixes of its kind count for, or before the machine slept.
        case stale
        /// It was measured before the last fix of its source.
        case older
        /// Its stamp lies before that of the last fix of its source.
        case olderStamp
        /// It is kept as what its source says now; a fresh satellite fix stands.
        case receiverHeld
        /// It is kept as what its source says now; the current position is not clearly less accurate.
        case notBetter
    }
}
