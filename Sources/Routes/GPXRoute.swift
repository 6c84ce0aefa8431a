import Geolocation

/// A GPX file (1.0 or 1.1) as a route: the points of its tracks, or, where there are none, those of its routes.
///
/// Elements are known by their local names wherever they stand in a point, so extensions (Garmin's
/// `TrackPointExtension`) may say speed and course.
struct GPXRoute {
    private var track: [TimedPoint] = []
    private var drawn: [TimedPoint] = []
    private var open: TimedPoint?
    private var hasRoot = false

    /// A point as it stands in the file.
    private struct TimedPoint {
        let line: Int
        var point: Route.Point
        var time: Timestamp?
    }

    /// - Throws: ``RouteFault``.
    static func route(_ bytes: [UInt8], file: String) throws(RouteFault) -> Route {
        var content = GPXRoute()
        let reader = XMLReader { (event, line) throws(RouteFault.Problem) in try content.take(event, line: line) }
        try reader.read(bytes, file: file)
        let points = content.track.isEmpty ? content.drawn : content.track
        guard !points.isEmpty else { throw RouteFault(.noPositions, file: file) }
        guard points.contains(where: { $0.time != nil }) else { return Route(Pace.timed(points.map(\.point))) }
        return Route(try timed(points, file: file))
    }

    /// The points by their own times. Of several at one time the first counts.
    private static func timed(_ points: [TimedPoint], file: String) throws(RouteFault) -> [Route.Point] {
        var timed: [Route.Point] = []
        var start: Timestamp?
        for each in points {
            guard let time = each.time else { throw RouteFault(.timeMissing, file: file, line: each.line) }
            let first = start ?? time
            start = first
            var point = each.point
            point.offset = .microseconds(time.microseconds - first.microseconds)
            if let last = timed.last?.offset, point.offset <= last {
                guard point.offset == last else { throw RouteFault(.timeGoesBack, file: file, line: each.line) }
                continue
            }
            timed.append(point)
        }
        return timed
    }

    // MARK: Elements

    private mutating func take(_ event: XMLReader.Event, line: Int) throws(RouteFault.Problem) {
        switch event {
        case .began("gpx", _):
            hasRoot = true
        case .began where !hasRoot:
            throw .notGPX
        case .began("trkpt", let attributes), .began("rtept", let attributes):
            guard let latitude = attributes["lat"].flatMap({ Double(gpx: $0.utf8) }),
                let longitude = attributes["lon"].flatMap({ Double(gpx: $0.utf8) }),
                let coordinate = Coordinate(latitude: latitude, longitude: longitude)
            else { throw .badCoordinate }
            open = TimedPoint(line: line, point: Route.Point(offset: .zero, coordinate: coordinate))
        case .ended("trkpt", _):
            if let point = open { track.append(point) }
            open = nil
        case .ended("rtept", _):
            if let point = open { drawn.append(point) }
            open = nil
        case .ended(let name, let text):
            try takeQuantity(name, text)
        case .began:
            break
        }
    }

    private mutating func takeQuantity(_ name: Substring, _ text: [UInt8]) throws(RouteFault.Problem) {
        guard open != nil else { return }
        switch name {
        case "time":
            guard let time = Timestamp(gpx: text.trimmed) else { throw .badTime }
            open?.time = time
        case "ele": open?.point.altitude = try Self.number(text, in: -12_000...100_000, of: name)
        case "speed": open?.point.speed = try Self.number(text, in: 0...10_000, of: name)
        case "course":
            let course = try Self.number(text, in: 0...360, of: name)
            open?.point.heading = course == 360 ? 0 : course
        case "hdop":
            // As for a receiver: 19 m for each unit, 95 % (gpsd 3.22, gps.h); 0 and 50 or more say nothing.
            let hdop = try Self.number(text, in: 0...1000, of: name)
            if hdop > 0, hdop < 50 { open?.point.horizontalAccuracy = hdop * 19 }
        default: break
        }
    }

    private static func number(
        _ text: [UInt8], in range: ClosedRange<Double>, of name: Substring
    ) throws(RouteFault.Problem) -> Double {
        guard let number = Double(gpx: text.trimmed), range.contains(number) else {
            throw .badNumber(element: String(name))
        }
        return number
    }
}

extension Double {
    /// Reads a decimal number (xsd:decimal, and with an exponent as some programs write it).
    fileprivate init?(gpx text: some Collection<UInt8>) {
        // Double(_:) takes hexadecimal digits, "inf" and "nan" too.
        guard text.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        self.init(String(decoding: text, as: UTF8.self))
    }
}

extension [UInt8] {
    fileprivate var trimmed: ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return [] }
        return self[...last].drop(while: isBlank)
    }
}
