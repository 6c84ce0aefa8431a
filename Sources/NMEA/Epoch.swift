import Geolocation

/// The sentences of one moment, put together.
struct Epoch {
    private(set) var time: TimeOfDay?
    private(set) var date: ReceiverDate?
    private(set) var kinds = Kinds()
    private(set) var last: Sentence.Kind?
    /// Whether its outcome has been told. What comes later only counts for learning the order of sentences.
    var isTold = false

    private var position: (kind: Sentence.Kind, coordinate: Coordinate)?
    private var fixes = Kinds()
    private var saysNoFix = false
    private var altitude: Double?
    private var hasHeight: Bool?
    private var velocity: (kind: Sentence.Kind, speed: Double?, course: Double?)?
    private var hdop: (kind: Sentence.Kind, value: Double)?
    private var errorFactor: Double?
    private var gstError: Double?
    private var pgrmeError: Double?

    struct Kinds: OptionSet {
        let rawValue: UInt16

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(_ kind: Sentence.Kind) { rawValue = kind.rawValue }

        static let positions: Kinds = [Kinds(.gga), Kinds(.rmc), Kinds(.gns), Kinds(.gll)]
    }

    init(_ first: Sentence) { add(first) }

    /// Whether any sentence so far is of a type that tells positions, with or without one.
    var isAboutPosition: Bool { !kinds.isDisjoint(with: .positions) }

    func contains(_ kind: Sentence.Kind) -> Bool { kinds.contains(Kinds(kind)) }

    /// Whether `sentence` belongs to this epoch: of the same time, and of a type not seen in it.
    ///
    /// GSA is the exception: receivers of several constellations send one for each.
    func accepts(_ sentence: Sentence) -> Bool {
        if let time, let other = sentence.time, time != other { return false }
        return sentence.kind == .gsa || !contains(sentence.kind)
    }

    mutating func add(_ sentence: Sentence) {
        kinds.insert(Kinds(sentence.kind))
        last = sentence.kind
        time = time ?? sentence.time
        switch sentence.validity {
        case .noFix: saysNoFix = true
        case .fix: fixes.insert(Kinds(sentence.kind))
        case nil: break
        }
        if let day = sentence.date, date == nil || sentence.kind == .zda { date = day }
        if let coordinate = sentence.coordinate, sentence.validity != .noFix {
            if (position?.kind.rank ?? .max) > sentence.kind.rank { position = (sentence.kind, coordinate) }
        }
        altitude = altitude ?? sentence.altitude
        hasHeight = hasHeight ?? sentence.hasHeight
        if sentence.speed != nil || sentence.course != nil {
            if velocity == nil || sentence.kind == .rmc { velocity = (sentence.kind, sentence.speed, sentence.course) }
        }
        if let value = sentence.hdop, hdop == nil || hdop?.kind == .gsa { hdop = (sentence.kind, value) }
        errorFactor = errorFactor ?? sentence.errorFactor
        switch sentence.kind {
        case .gst: gstError = sentence.horizontalError
        case .pgrme: pgrmeError = sentence.horizontalError
        default: break
        }
    }

    /// What the epoch comes to; `nil` if it said nothing about a position.
    ///
    /// One sentence that denies a fix is enough for none, unless GGA and RMC agree that there is one.
    var solution: NMEASolution? {
        guard isAboutPosition else { return nil }
        let agrees = fixes.isSuperset(of: [Kinds(.gga), Kinds(.rmc)])
        guard let position, agrees || !saysNoFix else { return .noFix }
        return .fix(
            NMEAFix(
                coordinate: position.coordinate, horizontalAccuracy: accuracy,
                altitude: hasHeight == false ? nil : altitude, speed: velocity?.speed, heading: velocity?.course,
                time: time))
    }

    /// 95 % radius in metres: the receiver's own estimate, else 19 m for each unit of HDOP (gpsd 3.22, `gps.h`, its
    /// model of user equivalent range errors), else 50 m. Never below 3 m.
    private var accuracy: Double {
        if let own = gstError ?? pgrmeError { return max(own, 3) }
        guard let hdop else { return 50 }
        return max(hdop.value * 19 * (errorFactor ?? 1), 3)
    }
}

extension Sentence.Kind {
    /// Whose position counts where several sentences of an epoch have one: the finest digits first.
    fileprivate var rank: Int {
        switch self {
        case .gga: 0
        case .gns: 1
        case .rmc: 2
        default: 3
        }
    }
}

/// What a receiver said at one moment.
package enum NMEASolution: Sendable, Equatable {
    case fix(NMEAFix)
    case noFix
}

/// A position by NMEA's means: with a time of day, and a date only if the receiver has told one.
package struct NMEAFix: Sendable, Equatable {
    package var coordinate: Coordinate
    /// Radius of the horizontal error, in metres, 95 %.
    package var horizontalAccuracy: Double
    /// Height above mean sea level, in metres.
    package var altitude: Double?
    /// Speed over ground, in metres per second.
    package var speed: Double?
    /// Course over ground, in degrees from true north, 0 ..< 360.
    package var heading: Double?
    package var time: TimeOfDay?
    package var day: CalendarDay?

    package init(
        coordinate: Coordinate, horizontalAccuracy: Double, altitude: Double? = nil, speed: Double? = nil,
        heading: Double? = nil, time: TimeOfDay? = nil, day: CalendarDay? = nil
    ) {
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
        self.altitude = altitude
        self.speed = speed
        self.heading = heading
        self.time = time
        self.day = day
    }
}
