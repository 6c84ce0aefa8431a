import Geolocation

/// What one NMEA 0183 sentence says, in metres, degrees and metres per second.
///
/// A quantity that its type does not have, or whose field is empty or out of range, is `nil`.
package struct Sentence: Sendable, Equatable {
    /// The types that are read, each with a bit of its own. All others are skipped by whoever parses.
    package enum Kind: UInt16, Sendable, Hashable, CaseIterable {
        case gga = 0x001
        case rmc = 0x002
        case gns = 0x004
        case gll = 0x008
        case gsa = 0x010
        case gst = 0x020
        case vtg = 0x040
        case zda = 0x080
        /// Garmin's estimate of its errors.
        case pgrme = 0x100
    }

    /// What a sentence says about whether there is a fix.
    package enum Validity: Sendable, Equatable {
        case fix
        /// None, or one from dead reckoning, a keyboard or a simulator.
        case noFix
    }

    package let kind: Kind
    package var time: TimeOfDay?
    package var date: ReceiverDate?
    package var validity: Validity?
    package var coordinate: Coordinate?
    /// Height above mean sea level, in metres.
    package var altitude: Double?
    /// Speed over ground, in metres per second.
    package var speed: Double?
    /// Course over ground, in degrees from true north, 0 ..< 360.
    package var course: Double?
    /// Horizontal dilution of precision.
    package var hdop: Double?
    /// What augmentation makes of the error: 1 for none, ¼ for differential corrections.
    package var errorFactor: Double?
    /// Radius of the horizontal error as the receiver itself estimates it, in metres, 95 %.
    package var horizontalError: Double?
    /// Whether the receiver solves for height too; `false` where it holds an old one.
    package var hasHeight: Bool?

    package init(_ kind: Kind) { self.kind = kind }
}

/// A date as a sentence writes it: with two digits for the year in RMC, with four in ZDA.
package struct ReceiverDate: Sendable, Equatable {
    package enum Year: Sendable, Equatable {
        case ofCentury(Int)
        case full(Int)
    }

    package let year: Year
    package let month: Int
    package let day: Int

    /// The day meant; `nil` if there is none such.
    ///
    /// - Parameter century: what a four-digit year of the same receiver began with (20 for 2026). Without one, 80 to
    ///   99 are of the twentieth, as GPS began in 1980.
    func resolve(century: Int?) -> CalendarDay? {
        let fullYear =
            switch year {
            case .full(let year): year
            case .ofCentury(let year): (century ?? (year >= 80 ? 19 : 20)) * 100 + year
            }
        return CalendarDay(year: fullYear, month: month, day: day)?.correctingRollover()
    }
}
