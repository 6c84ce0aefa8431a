import DBus
import Geolocation
import NMEA

/// A position as ModemManager writes it in numbers: the receiver's, or that of a CDMA base station.
struct ModemPosition: Equatable {
    let coordinate: Coordinate
    /// Height above mean sea level, in metres.
    let altitude: Double?
    let time: TimeOfDay?

    /// - Parameter value: `a{sv}` with `latitude`, `longitude` and, of a receiver, `altitude` and `utc-time`.
    /// - Returns: `nil` where no place is told. What cannot know its place puts itself at 0, 0.
    init?(_ value: Value) {
        guard case .dictionary(_, _, let entries) = value else { return nil }
        func content(_ key: String) -> Value? {
            guard let entry = entries.first(where: { $0.key == .string(key) }) else { return nil }
            return if case .variant(let value) = entry.value { value } else { nil }
        }
        guard let latitude = content("latitude").flatMap({ Double($0) }),
            let longitude = content("longitude").flatMap({ Double($0) }), latitude != 0 || longitude != 0,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        self.coordinate = coordinate
        // From the Dead Sea into the sky; no other number is a height.
        altitude = content("altitude").flatMap { Double($0) }.flatMap { (-500...20_000).contains($0) ? $0 : nil }
        time = content("utc-time").flatMap { String($0) }.flatMap { TimeOfDay(Array($0.utf8)[...]) }
    }
}
