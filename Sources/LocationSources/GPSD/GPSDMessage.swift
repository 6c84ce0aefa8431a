import Geolocation
import JSON
import NMEA

/// One line of gpsd's JSON protocol, as far as positions need it (gpsd_json(5), protocol 3.10 and later).
///
/// Unknown classes and members are skipped, numbers out of range are unknown; the order of members means nothing.
package enum GPSDMessage: Sendable, Equatable {
    /// The greeting.
    case version(release: String)
    /// All devices that gpsd knows, open or not.
    case devices([String])
    /// A device has been recognised or added, or is gone.
    case device(path: String, isGone: Bool)
    /// What is being watched, as the answer to a request.
    case watch
    case position(GPSDPosition)
    case sky(GPSDSky)
    case errors(GPSDErrors)
    /// gpsd refuses a request.
    case error(String)
    /// A class that tells nothing about positions.
    case other

    /// Longest line that is read. gpsd cuts longer ones itself (`GPS_JSON_RESPONSE_MAX`).
    package static let longestLine = 10240

    /// Reads one line without its end.
    ///
    /// - Returns: `nil` if it is no JSON object with a class.
    package init?(_ line: ArraySlice<UInt8>) {
        let limits = JSONValue.Limits(bytes: Self.longestLine, depth: 8)
        guard let json = try? JSONValue(parsing: line, limits: limits), let name = json["class"]?.string else {
            return nil
        }
        switch name {
        case "VERSION": self = .version(release: json["release"]?.string ?? "")
        case "DEVICES": self = .devices(json["devices"]?.array?.compactMap { $0["path"]?.devicePath } ?? [])
        case "DEVICE":
            guard let path = json["path"]?.devicePath else { return nil }
            // A time, as text or number, where it has been opened; the number 0 where it has been removed.
            self = .device(path: path, isGone: json["activated"]?.double == 0)
        case "WATCH": self = .watch
        case "TPV": self = .position(GPSDPosition(json))
        case "SKY": self = .sky(GPSDSky(json))
        case "GST": self = .errors(GPSDErrors(json))
        case "ERROR": self = .error(json["message"]?.string ?? "")
        default: self = .other
        }
    }
}

/// A TPV report.
package struct GPSDPosition: Sendable, Equatable {
    /// `nil` where gpsd names no device, as in the reports of one that it has only just found.
    package var device: String?
    /// 0 unknown, 1 no fix, 2 without height, 3 with.
    package var mode: Int64
    /// How the fix was made: 2 differential, 5 dead reckoning, 7 surveyed, 8 simulated; absent where it is a plain one.
    package var status: Int64?
    package var time: Timestamp?
    package var coordinate: Coordinate?
    /// Height above mean sea level, in metres.
    package var altitude: Double?
    /// Speed over ground, in metres per second.
    package var speed: Double?
    /// Course over ground, in degrees from true north, 0 ..< 360.
    package var track: Double?
    /// Radius of the horizontal error, in metres, 95 %.
    package var horizontalError: Double?

    init(_ json: JSONValue) {
        device = json["device"]?.devicePath
        mode = json["mode"]?.integer ?? 0
        status = json["status"]?.integer
        time = json["time"].flatMap { Timestamp(gpsd: $0) }
        if let latitude = json["lat"]?.double, let longitude = json["lon"]?.double {
            coordinate = Coordinate(latitude: latitude, longitude: longitude)
        }
        let range = -12_000.0...100_000
        altitude = json["altMSL"]?.number(in: range) ?? json["alt"]?.number(in: range)
        speed = json["speed"]?.number(in: 0...10_000)
        track = json["track"]?.number(in: 0...360).map { $0 == 360 ? 0 : $0 }
        if speed == 0 && track == 0 { track = nil }
        let east = json["epx"]?.number(in: GPSDErrors.range)
        let north = json["epy"]?.number(in: GPSDErrors.range)
        horizontalError = json["eph"]?.number(in: GPSDErrors.range)
        // Before 3.19 there is no eph.
        if horizontalError == nil, let east, let north {
            horizontalError = (east * east + north * north).squareRoot()
        }
    }

    /// Whether it is a position that has been measured.
    package var isFix: Bool {
        switch status {
        case 5, 7, 8: false
        default: mode >= 2
        }
    }
}

/// A SKY report.
package struct GPSDSky: Sendable, Equatable {
    package var device: String?
    /// Horizontal dilution of precision; `nil` in the reports that list satellites only.
    package var hdop: Double?

    init(_ json: JSONValue) {
        device = json["device"]?.devicePath
        if let value = json["hdop"]?.double, value > 0, value < 50 { hdop = value }
    }
}

/// A GST report: the receiver's own estimate of its errors.
package struct GPSDErrors: Sendable, Equatable {
    package var device: String?
    /// Radius of the horizontal error, in metres, 95 %.
    package var horizontalError: Double?

    static let range = 0.001...1e6

    init(_ json: JSONValue) {
        device = json["device"]?.devicePath
        if let north = json["lat"]?.number(in: Self.range), let east = json["lon"]?.number(in: Self.range) {
            // Standard deviations; 2.45 of them hold 95 % of a circular normal distribution.
            horizontalError = 2.45 * ((north * north + east * east) / 2).squareRoot()
        }
    }
}

extension JSONValue {
    fileprivate func number(in range: ClosedRange<Double>) -> Double? {
        guard let value = double, range.contains(value) else { return nil }
        return value
    }

    /// A path as long as the kernel's at most (`PATH_MAX` is 4096; devices are far shorter).
    fileprivate var devicePath: String? {
        guard let string, !string.isEmpty, string.utf8.count <= 255 else { return nil }
        return string
    }
}

extension Timestamp {
    /// Reads `2026-06-01T12:00:00.000Z`; gpsd before 3.0 wrote seconds since the epoch.
    init?(gpsd value: JSONValue) {
        if let seconds = value.double {
            guard (0...253_402_300_799).contains(seconds) else { return nil }
            self.init(microseconds: Int64((seconds * 1_000_000).rounded()))
            return
        }
        guard let text = value.string.map({ Array($0.utf8) }), text.count >= 20, text.last == UInt8(ascii: "Z") else {
            return nil
        }
        let marks = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)]
        guard marks.allSatisfy({ text[$0] == UInt8(ascii: $1) }),
            let year = Int(digits: text[0..<4]), let month = Int(digits: text[5..<7]),
            let dayOfMonth = Int(digits: text[8..<10]),
            let day = CalendarDay(year: year, month: month, day: dayOfMonth),
            let time = TimeOfDay((text[11..<13] + text[14..<16] + text[17..<(text.count - 1)])[...])
        else { return nil }
        self = ReceiverClock.timestamp(time: time, day: day, wallTime: 0)
    }
}
