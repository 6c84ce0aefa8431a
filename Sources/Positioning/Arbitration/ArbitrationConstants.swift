import Geolocation

/// The numbers that the choice among sources rests on.
///
/// They come from comparing Android's fused provider, Lomiri's location service, GeoClue, Core Location and Ichnaea, and
/// are to be tuned, not laws of nature.
package enum ArbitrationConstants {
    /// Radius in metres that a receiver's fix gets where the receiver states none.
    package static let defaultReceiverAccuracy = 50.0

    /// A place that could only be reached faster than this, in metres per second, is a jump.
    package static let maximumSpeed = 500.0

    /// Metres that a position becomes less certain by in each second, at least. At 3 m/s a fix of 5 m equals one of
    /// 40 m after some 12 s, which is where Android and Lomiri draw their line of 11 s.
    package static let drift = 3.0

    /// Another source replaces the current one only if its effective accuracy is at most this part of the current's.
    package static let switchRatio = 0.7

    /// How long a fix of one's own receiver counts as fresh: it outdoes everything foreign, and if it is one of at most
    /// ``receiverHoldAccuracy``, gives way only to a set place and to a clearly better satellite fix.
    package static let receiverHold = Duration.seconds(10)

    /// Radius in metres up to which a satellite fix is held.
    package static let receiverHoldAccuracy = 100.0

    /// How far a fix's stamp may lie ahead of the system clock.
    package static let maximumLead = Duration.seconds(5)

    /// How far a fix's stamp may lie from the system clock at all.
    package static let maximumStampDifference = Duration.seconds(86_400)

    /// How many fixes in a row, and for how long, a source's stamps may lie before an earlier one of its own until they
    /// are taken for its new time base.
    package static let maximumOlderFixes = 10
    package static let maximumOlderTime = Duration.seconds(10)

    /// How much older than a fix the one before it may be for speed and heading to be worked out from the two.
    package static let maximumMovementInterval = Duration.seconds(10)

    /// Speed in metres per second below which a heading is noise.
    package static let minimumHeadingSpeed = 0.5

    /// How old a fix may be that is handed to a client as it starts.
    package static let maximumStartingAge = Duration.seconds(60)
}

extension Fix.Kind {
    /// How long a fix of this kind counts. `nil`: until another one takes its place.
    package var lifetime: Duration? {
        switch self {
        case .gnss: .seconds(300)
        case .wifi, .cell: .seconds(1800)
        case .ip: .seconds(21_600)
        case .timezone, .fixed: nil
        }
    }

    /// The smallest radius in metres that is believed of a source of this kind. A set place is taken at its word.
    package var accuracyFloor: Double {
        switch self {
        case .gnss: 3
        case .wifi: 10
        case .cell: 500
        case .ip, .timezone: 10_000
        case .fixed: 0
        }
    }

    /// Whether a fix becomes less certain as time passes. A setting is no measurement, and does not.
    package var ages: Bool {
        switch self {
        case .gnss, .wifi, .cell, .ip: true
        case .timezone, .fixed: false
        }
    }

    /// Whether it measures where the machine is, so that a jump of it is suspicious, and what was measured before a sleep
    /// says nothing after it. What an address or a setting stands for changes from one moment to the next.
    package var measuresPlace: Bool {
        switch self {
        case .gnss, .wifi, .cell: true
        case .ip, .timezone, .fixed: false
        }
    }
}
