import NMEA

/// A receiver's log as a route: each epoch with a fix is a point, and epochs without one are gaps.
enum NMEARoute {
    /// - Throws: ``RouteFault/Problem/noPositions``. Whatever is no sentence is skipped, as with a receiver.
    static func route(_ bytes: [UInt8], file: String) throws(RouteFault) -> Route {
        var decoder = NMEADecoder()
        var schedule = Schedule()
        // Line by line, as a receiver sends: what comes at once would be one epoch as far as it can.
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            (line + [UInt8(ascii: "\n")]).withUnsafeBytes { decoder.decode($0).forEach { schedule.add($0) } }
        }
        if let last = decoder.silenceFell() { schedule.add(last) }
        guard !schedule.points.isEmpty else { throw RouteFault(.noPositions, file: file) }
        return Route(schedule.points)
    }

    private struct Schedule {
        private(set) var points: [Route.Point] = []
        private var last: (time: TimeOfDay?, day: CalendarDay?) = (nil, nil)

        mutating func add(_ solution: NMEASolution) {
            guard case .fix(let fix) = solution else { return }
            let offset = points.last.map { $0.offset + step(to: fix) } ?? .zero
            last = (fix.time, fix.day)
            points.append(
                Route.Point(
                    offset: offset, coordinate: fix.coordinate, altitude: fix.altitude,
                    horizontalAccuracy: fix.horizontalAccuracy, speed: fix.speed, heading: fix.heading))
        }

        /// The time from the last fix to this one. Where there is no telling, or the receiver has set its clock back, a
        /// second, which is the usual beat.
        private func step(to fix: NMEAFix) -> Duration {
            guard let time = fix.time, let before = last.time else { return .seconds(1) }
            let aDay: Int64 = 86_400_000_000
            var step = time.microseconds - before.microseconds
            if let day = fix.day, let dayBefore = last.day {
                step += Int64(day.sinceEpoch - dayBefore.sinceEpoch) * aDay
            } else if step < -aDay / 2 {
                step += aDay
            }
            return step > 0 ? .microseconds(step) : .seconds(1)
        }
    }
}
