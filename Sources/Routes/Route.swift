import EventLoop
import Geolocation

/// A way as timed positions, read from a GPX or NMEA file.
package struct Route: Sendable, Hashable {
    /// Where somebody was at one moment.
    package struct Point: Sendable, Hashable {
        /// Time since the first point.
        package var offset: Duration
        package var coordinate: Coordinate
        /// Metres above mean sea level.
        package var altitude: Double?
        /// Radius of uncertainty, in metres, 95 %.
        package var horizontalAccuracy: Double?
        /// Metres per second.
        package var speed: Double?
        /// Degrees from true north, 0 ..< 360.
        package var heading: Double?

        package init(
            offset: Duration, coordinate: Coordinate, altitude: Double? = nil, horizontalAccuracy: Double? = nil,
            speed: Double? = nil, heading: Double? = nil
        ) {
            self.offset = offset
            self.coordinate = coordinate
            self.altitude = altitude
            self.horizontalAccuracy = horizontalAccuracy
            self.speed = speed
            self.heading = heading
        }
    }

    /// In the order of their offsets, of which no two are equal. Never empty.
    package let points: [Point]

    /// Larger files are not read, in bytes.
    package static let sizeLimit = 64 << 20

    package var duration: Duration { points[points.count - 1].offset }

    init(_ points: [Point]) {
        precondition(!points.isEmpty, "whoever reads a file without positions says so")
        self.points = points
    }

    /// Reads a file, GPX if it begins with `<` and NMEA otherwise.
    ///
    /// - Throws: ``RouteFault``.
    package static func load(_ path: String) throws(RouteFault) -> Route {
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path, limit: sizeLimit)
        } catch {
            throw RouteFault(.unreadable(error), file: path)
        }
        return try Route(parsing: bytes, file: path)
    }

    /// - Parameter file: the name that faults bear.
    /// - Throws: ``RouteFault``.
    package init(parsing bytes: [UInt8], file: String) throws(RouteFault) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = bytes.dropFirst(hasMark ? 3 : 0).drop(while: isBlank)
        if start.first == UInt8(ascii: "<") {
            self = try GPXRoute.route(bytes, file: file)
        } else {
            self = try NMEARoute.route(bytes, file: file)
        }
    }
}
