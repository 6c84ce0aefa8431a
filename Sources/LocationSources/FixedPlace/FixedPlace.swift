import Geolocation

/// A place that does not come from measuring, but from what a file says.
struct FixedPlace: Sendable, Equatable {
    let coordinate: Coordinate
    /// Metres above mean sea level.
    let altitude: Double?
    /// Radius of uncertainty, in metres.
    let horizontalAccuracy: Double?

    /// What is wrong with a file.
    enum Fault: Error, Equatable, Sendable {
        case notANumber(line: Int)
        case outOfRange(line: Int)
        /// There are fewer than four numbers.
        case incomplete
    }

    /// Larger files are not read, in bytes.
    static let sizeLimit = 65536

    /// What each of the numbers may be. Heights from below any sea to where balloons end; no radius is larger than
    /// half of the earth's girth.
    private static let ranges = [-90.0...90, -180.0...180, -12_000.0...100_000, 0.0...20_037_508]

    init(coordinate: Coordinate, altitude: Double?, horizontalAccuracy: Double?) {
        (self.coordinate, self.altitude, self.horizontalAccuracy) = (coordinate, altitude, horizontalAccuracy)
    }

    /// Reads GeoClue's `geolocation` file: latitude, longitude, altitude and accuracy, a line each. A `#` begins a comment,
    /// blank lines and what follows the fourth number do not count.
    ///
    /// - Throws: ``Fault``.
    init(parsing bytes: some Sequence<UInt8>) throws(Fault) {
        var numbers: [Double] = []
        let lines = Array(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where numbers.count < 4 {
            let text = Self.trimmed(line.prefix { $0 != UInt8(ascii: "#") })
            guard !text.isEmpty else { continue }
            guard let number = Self.number(text) else { throw .notANumber(line: index + 1) }
            guard Self.ranges[numbers.count].contains(number) else { throw .outOfRange(line: index + 1) }
            numbers.append(number)
        }
        guard numbers.count == 4, let coordinate = Coordinate(latitude: numbers[0], longitude: numbers[1]) else {
            throw .incomplete
        }
        self.coordinate = coordinate
        altitude = numbers[2]
        horizontalAccuracy = numbers[3]
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return [] }
        return text[...last].drop(while: isBlank)
    }

    /// A decimal number with a point, whatever the locale.
    private static func number(_ text: ArraySlice<UInt8>) -> Double? {
        // Double(_:) takes hexadecimal digits, "inf" and "nan" too.
        guard text.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }
}

extension FixedPlace.Fault: CustomStringConvertible {
    var description: String {
        switch self {
        case .notANumber(let line): "line \(line) is not a number"
        case .outOfRange(let line): "the number in line \(line) is out of range"
        case .incomplete: "there are fewer than four numbers (latitude, longitude, altitude, accuracy)"
        }
    }
}
