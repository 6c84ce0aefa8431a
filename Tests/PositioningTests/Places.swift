import Geolocation

/// Invented moments at real places, in the words of the tests.
struct Place {
    let latitude: Double
    let longitude: Double

    static let home = Place(latitude: 52.52, longitude: 13.405)
    static let nextDoor = home.north(30)
    static let corner = home.north(400)
    static let outskirts = Place(latitude: 52.628, longitude: 13.405)
    static let farAway = Place(latitude: 48.137, longitude: 11.575)

    /// The place so many metres north.
    func north(_ metres: Double) -> Place {
        Place(latitude: latitude + metres / 111_195.08, longitude: longitude)
    }

    var coordinate: Coordinate {
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            preconditionFailure("a test names places that exist")
        }
        return coordinate
    }
}

extension Timestamp {
    /// 2026-06-01T12:00:00Z, when the tests' second 0 is.
    static let start = Timestamp(seconds: 1_780_315_200)

    static func + (left: Timestamp, right: Double) -> Timestamp {
        Timestamp(microseconds: left.microseconds + Int64((right * 1_000_000).rounded()))
    }
}

extension Fix {
    /// A fix of second `time`, counted on both clocks from ``Timestamp/start``.
    static func sample(
        _ kind: Kind, at time: Double = 0, _ place: Place = .home, accuracy: Double? = 5, speed: Double? = nil,
        heading: Double? = nil, stamp: Timestamp? = nil, source: String? = nil, isSimulated: Bool = false,
        isForeign: Bool = false
    ) -> Fix {
        Fix(
            coordinate: place.coordinate, horizontalAccuracy: accuracy, speed: speed, heading: heading,
            timestamp: stamp ?? .start + time, measuredAt: .seconds(time), kind: kind, source: source ?? kind.rawValue,
            isSimulated: isSimulated, isForeign: isForeign)
    }
}
