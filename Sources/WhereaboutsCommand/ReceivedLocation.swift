import DBus
import GeoClueAPI
import Geolocation

/// A position as the service told it.
struct ReceivedLocation {
    let coordinate: Coordinate
    /// Metres.
    let accuracy: Double
    /// Metres above mean sea level.
    let altitude: Double?
    /// Metres per second.
    let speed: Double?
    /// Degrees clockwise from true north.
    let heading: Double?
    let description: String
    let timestamp: Timestamp

    /// In characters.
    private static let longestDescription = 200

    /// - Returns: `nil` if a property is missing or out of its range.
    init?(_ properties: [String: Variant]) {
        func number(_ name: String) -> Double? {
            if case .double(let value)? = properties[name]?.value { value } else { nil }
        }
        guard let latitude = number("Latitude"), let longitude = number("Longitude"), let accuracy = number("Accuracy"),
            accuracy >= 0, let coordinate = Coordinate(latitude: latitude, longitude: longitude),
            case .string(let description)? = properties["Description"]?.value,
            let time = (properties["Timestamp"]?.value).flatMap(Structure<UInt64, UInt64>.init)
        else { return nil }
        self.coordinate = coordinate
        self.accuracy = accuracy
        altitude = number("Altitude").flatMap { $0 > -Double.greatestFiniteMagnitude ? $0 : nil }
        speed = number("Speed").flatMap { $0 >= 0 ? $0 : nil }
        heading = number("Heading").flatMap { (0..<360).contains($0) ? $0 : nil }
        self.description = String(description.prefix(Self.longestDescription)).withoutControls
        let whole = time.fields.0.multipliedReportingOverflow(by: 1_000_000)
        let sum = whole.partialValue.addingReportingOverflow(time.fields.1)
        guard !whole.overflow, !sum.overflow else { return nil }
        timestamp = Timestamp(microseconds: Int64(clamping: sum.partialValue))
    }

    /// Everything on one line.
    var line: String {
        var parts = ["\(time)", "\(angle(coordinate.latitude, "N", "S")) \(angle(coordinate.longitude, "E", "W"))"]
        parts.append("±\(decimal(accuracy, accuracy < 10 ? 1 : 0)) m")
        if let speed { parts.append("\(decimal(speed * 3.6, 1)) km/h") }
        if let heading {
            parts.append(
                "\(decimal(heading.rounded().truncatingRemainder(dividingBy: 360), 0))° \(Self.arrow(heading))")
        }
        if let altitude { parts.append("\(decimal(altitude, 0)) m up") }
        if !description.isEmpty { parts.append(description) }
        return parts.joined(separator: "  ")
    }

    /// Hours, minutes and seconds, UTC.
    private var time: String {
        let seconds = timestamp.seconds % 86_400
        return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(
            separator: ":")
    }

    private func angle(_ degrees: Double, _ positive: String, _ negative: String) -> String {
        "\(decimal(degrees.magnitude, 5))° \(degrees < 0 ? negative : positive)"
    }

    private static func arrow(_ heading: Double) -> String {
        let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
        return arrows[Int((heading / 45).rounded()) % arrows.count]
    }
}

/// A number with a fixed count of decimals, at most 9.
private func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, value.magnitude * scale < 9e18 else { return "?" }
    let scaled = Int64((value.magnitude * scale).rounded())
    let whole = scaled / Int64(scale)
    var text = (value < 0 && scaled > 0 ? "-" : "") + String(whole)
    if places > 0 {
        let fraction = String(scaled % Int64(scale))
        text += "." + String(repeating: "0", count: places - fraction.count) + fraction
    }
    return text
}
