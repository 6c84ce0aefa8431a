import Geolocation

/// Times for a way that was drawn and not recorded: it is gone at an even pace.
enum Pace {
    /// Metres per second: a car in town.
    static let speed = 10.0

    /// More points than this are not made of a way; it is then gone faster.
    private static let mostPoints = 1_000_000

    /// The way with a point for each second, and one for each corner.
    static func timed(_ corners: [Route.Point]) -> [Route.Point] {
        let legs = zip(corners, corners.dropFirst()).map { $0.coordinate.distance(to: $1.coordinate) }
        let speed = max(speed, legs.reduce(0, +) / Double(mostPoints))
        var timed = [corners[0]]
        var start = 0.0
        for (index, length) in legs.enumerated() where length > 0 {
            let (from, to) = (corners[index], corners[index + 1])
            let seconds = length / speed
            let heading = from.coordinate.bearing(to: to.coordinate)
            for second in stride(from: 1, to: seconds, by: 1) {
                timed.append(point(between: from, to, share: second / seconds, start + second, speed, heading))
            }
            start += seconds
            // A leg of a hair's breadth takes no time that a number could tell.
            let corner = point(between: from, to, share: 1, start, speed, heading)
            if let last = timed.last, corner.offset > last.offset { timed.append(corner) }
        }
        return timed
    }

    private static func point(
        between from: Route.Point, _ to: Route.Point, share: Double, _ seconds: Double, _ speed: Double,
        _ heading: Double?
    ) -> Route.Point {
        var point = to
        point.offset = .seconds(seconds)
        point.speed = to.speed ?? speed
        point.heading = to.heading ?? heading
        if let low = from.altitude, let high = to.altitude { point.altitude = low + (high - low) * share }
        let latitude = from.coordinate.latitude + (to.coordinate.latitude - from.coordinate.latitude) * share
        // The short way round, which may lead over the 180th meridian.
        let turn = (to.coordinate.longitude - from.coordinate.longitude).remainder(dividingBy: 360)
        let longitude = (from.coordinate.longitude + turn * share).remainder(dividingBy: 360)
        point.coordinate = Coordinate(latitude: latitude, longitude: longitude) ?? to.coordinate
        return point
    }
}
