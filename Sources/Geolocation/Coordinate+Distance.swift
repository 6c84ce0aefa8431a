import Glibc

/// Distances and directions on a sphere of the Earth's mean radius.
///
/// The sphere is off by up to 0.5 % against the ellipsoid, which is far below what a fix's accuracy leaves open.
extension Coordinate {
    /// The Earth's mean radius R₁, in metres (IUGG; Moritz, Geodetic Reference System 1980).
    package static let earthRadius = 6_371_008.8

    /// Great-circle distance in metres, by the haversine formula, which stays exact for short distances.
    package func distance(to other: Coordinate) -> Double {
        let northward = sin((other.latitude - latitude).radians / 2)
        let eastward = sin((other.longitude - longitude).radians / 2)
        let haversine =
            northward * northward + cos(latitude.radians) * cos(other.latitude.radians) * eastward * eastward
        return 2 * Self.earthRadius * asin(min(1, haversine.squareRoot()))
    }

    /// Direction in which the great circle to `other` sets out, in degrees clockwise from true north, 0 ..< 360.
    ///
    /// - Returns: `nil` for one and the same place, which has no direction.
    package func bearing(to other: Coordinate) -> Double? {
        let difference = (other.longitude - longitude).radians
        let east = sin(difference) * cos(other.latitude.radians)
        let north =
            cos(latitude.radians) * sin(other.latitude.radians)
            - sin(latitude.radians) * cos(other.latitude.radians) * cos(difference)
        guard distance(to: other) > 0 else { return nil }
        let degrees = atan2(east, north) * 180 / .pi
        let turned = degrees < 0 ? degrees + 360 : degrees
        return turned < 360 ? turned : 0
    }
}

extension Double {
    /// This number of degrees in radians.
    var radians: Double { self * .pi / 180 }
}
