import DBus
import Geolocation

/// What a Location object says: the values of its eight properties.
///
/// The interface has no optional values, so an unknown quantity becomes its documented stand-in, here and nowhere else.
package struct LocationProperties: Sendable, Equatable {
    /// Degrees.
    package let latitude, longitude: Double
    /// Metres.
    package let accuracy: Double
    /// Metres above mean sea level; the lowest finite double if unknown.
    package let altitude: Double
    /// Metres per second; −1 if unknown.
    package let speed: Double
    /// Degrees clockwise from true north; −1 if unknown.
    package let heading: Double
    /// `Simulated`, or the kind of source; empty where the kind would tell too much.
    package let description: String
    /// Microseconds since the epoch.
    private let microseconds: UInt64

    package init(_ fix: Fix) {
        latitude = fix.coordinate.latitude
        longitude = fix.coordinate.longitude
        accuracy = fix.horizontalAccuracy ?? -1
        altitude = fix.altitude ?? -Double.greatestFiniteMagnitude
        speed = fix.speed ?? -1
        heading = fix.heading ?? -1
        description = fix.isSimulated ? "Simulated" : fix.kind.label
        microseconds = UInt64(max(fix.timestamp.microseconds, 0))
    }

    package init(_ fix: CoarseFix) {
        latitude = fix.coordinate.latitude
        longitude = fix.coordinate.longitude
        accuracy = fix.radius
        altitude = -Double.greatestFiniteMagnitude
        speed = -1
        heading = -1
        description = fix.isSimulated ? "Simulated" : ""
        microseconds = UInt64(max(fix.timestamp.microseconds, 0))
    }

    /// Seconds and microseconds since the epoch, as the interface has them.
    package var timestamp: Structure<UInt64, UInt64> {
        Structure(microseconds / 1_000_000, microseconds % 1_000_000)
    }
}

extension Fix.Kind {
    /// The word for people, in the one text of GeoClue's Location.
    fileprivate var label: String {
        switch self {
        case .gnss: "GNSS"
        case .wifi: "Wi-Fi"
        case .cell: "Cell"
        case .ip: "IP"
        case .timezone: "Time zone"
        case .fixed: "Fixed"
        }
    }
}

extension LocationProperties {
    /// The properties that differ in `other`, with their values there.
    package func changes(to other: LocationProperties) -> [(name: String, value: Value)] {
        zip(values, other.values).compactMap { $0.value == $1.value ? nil : $1 }
    }

    private var values: [(name: String, value: Value)] {
        [
            ("Latitude", .double(latitude)), ("Longitude", .double(longitude)), ("Accuracy", .double(accuracy)),
            ("Altitude", .double(altitude)), ("Speed", .double(speed)), ("Heading", .double(heading)),
            ("Description", .string(description)), ("Timestamp", timestamp.asValue),
        ]
    }
}
