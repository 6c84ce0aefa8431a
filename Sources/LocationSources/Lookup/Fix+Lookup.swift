import EventLoop
import Geolocation

extension Fix {
    /// Where somebody else says that what was received is.
    ///
    /// - Parameters:
    ///   - accuracy: radius of uncertainty, in metres.
    ///   - measuredAt: when it was received, as time since boot.
    @ServiceActor
    init(
        _ coordinate: Coordinate, accuracy: Double, measuredAt: Duration, kind: Kind, source: String,
        clock: any Clock
    ) {
        let age = max(clock.now - measuredAt, .zero)
        self.init(
            coordinate: coordinate, horizontalAccuracy: accuracy,
            timestamp: Timestamp(microseconds: clock.wallTime - age.wholeMicroseconds), measuredAt: measuredAt,
            kind: kind, source: source)
    }
}
