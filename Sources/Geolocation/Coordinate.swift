/// A place on the WGS 84 ellipsoid.
package struct Coordinate: Sendable, Hashable {
    /// Degrees north of the equator, −90 … 90.
    package let latitude: Double
    /// Degrees east of Greenwich, −180 … 180.
    package let longitude: Double

    /// - Returns: `nil` unless both angles are finite and in range.
    package init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Coordinate: CustomStringConvertible, CustomReflectable {
    /// Withholds the angles, so that logging a fix does not log where someone is.
    package var description: String { "Coordinate(withheld)" }

    /// Keeps `dump` and string interpolation of what contains a coordinate from printing the angles.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
