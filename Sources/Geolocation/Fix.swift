/// One position as one source found it.
package struct Fix: Sendable, Hashable {
    /// What finds positions, in the words of the own interface's `kind`.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case gnss, wifi, cell, ip, timezone, fixed
    }

    package var coordinate: Coordinate
    /// Radius of uncertainty around `coordinate`, in metres, 95 %. `nil` if the source does not say.
    package var horizontalAccuracy: Double?
    /// Height above mean sea level, in metres. `nil` if the source does not measure it.
    package var altitude: Double?
    /// Speed over ground, in metres per second.
    package var speed: Double?
    /// Course over ground, in degrees clockwise from true north, 0 ..< 360.
    package var heading: Double?
    /// When the position was taken, by the source's clock where that is to be trusted, else the system's.
    package var timestamp: Timestamp
    /// When the position was taken, on the monotonic clock (time since boot). Ages are measured by it.
    package var measuredAt: Duration
    package var kind: Kind
    /// Which source: its name, and the device where it has several (`gpsd:/dev/ttyUSB0`).
    package var source: String
    package var isSimulated: Bool
    /// Whether a stranger on the network says so. What one's own receivers say counts before it.
    package var isForeign: Bool

    package init(
        coordinate: Coordinate, horizontalAccuracy: Double?, altitude: Double? = nil, speed: Double? = nil,
        heading: Double? = nil, timestamp: Timestamp, measuredAt: Duration, kind: Kind, source: String,
        isSimulated: Bool = false, isForeign: Bool = false
    ) {
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
        self.altitude = altitude
        self.speed = speed
        self.heading = heading
        self.timestamp = timestamp
        self.measuredAt = measuredAt
        self.kind = kind
        self.source = source
        self.isSimulated = isSimulated
        self.isForeign = isForeign
    }
}
