import Geolocation

extension Fix {
    /// Fills in speed and heading from the same receiver's fix before this one, where the receiver gives none.
    ///
    /// Both are worked out from the places and the fixes' own times, and only if these are at most 10 s apart. A speed
    /// that nothing moves at is none. Without movement there is no heading, whoever says so.
    mutating func completeMovement(since previous: Fix?) {
        let derived = previous.flatMap(movement(since:))
        speed = speed ?? derived?.speed
        guard let speed else { return }
        if speed >= ArbitrationConstants.minimumHeadingSpeed {
            heading = heading ?? derived?.heading
        } else {
            heading = nil
        }
    }

    private func movement(since previous: Fix) -> (speed: Double, heading: Double?)? {
        let elapsed = Duration.microseconds(timestamp.microseconds - previous.timestamp.microseconds)
        guard elapsed > .zero, elapsed <= ArbitrationConstants.maximumMovementInterval else { return nil }
        let speed = previous.coordinate.distance(to: coordinate) / elapsed.seconds
        guard speed <= ArbitrationConstants.maximumSpeed else { return nil }
        return (speed, previous.coordinate.bearing(to: coordinate))
    }

    /// Drops what no sensor can mean: a speed below zero, a heading outside of the circle, what is not a finite number.
    mutating func dropImpossibleValues() {
        if let value = altitude, !value.isFinite { altitude = nil }
        if let value = speed, !(value.isFinite && value >= 0) { speed = nil }
        if let value = heading, !(0..<360).contains(value) { heading = value == 360 ? 0 : nil }
    }
}
