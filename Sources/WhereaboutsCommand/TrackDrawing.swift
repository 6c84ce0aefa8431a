import Geolocation
import Glibc

/// The way travelled, drawn with braille dots: north is up, and a degree is as long one way as the other.
struct TrackDrawing {
    private var track: [Coordinate] = []

    /// Points kept; the oldest go first.
    private static let limit = 5000

    mutating func append(_ coordinate: Coordinate) {
        track.append(coordinate)
        if track.count > Self.limit { track.removeFirst(track.count - Self.limit) }
    }

    /// - Returns: `rows` lines of `columns` characters.
    func lines(columns: Int, rows: Int) -> [String] {
        guard let last = track.last, columns > 0, rows > 0 else { return [] }
        // A braille character has two columns and four rows of dots.
        var dots = [UInt8](repeating: 0, count: columns * rows)
        let projection = Projection(track, width: Double(columns * 2 - 1), height: Double(rows * 4 - 1))
        func cell(_ coordinate: Coordinate) -> (index: Int, bit: UInt8) {
            let (x, y) = projection.place(coordinate)
            return (y / 4 * columns + x / 2, Self.bits[y % 4][x % 2])
        }
        for point in track {
            let (index, bit) = cell(point)
            dots[index] |= bit
        }
        let here = cell(last).index
        return (0..<rows).map { row in
            var line = ""
            for index in row * columns..<(row + 1) * columns {
                line += index == here ? "◉" : String(UnicodeScalar(0x2800 + UInt32(dots[index]))!)
            }
            return line
        }
    }

    /// Which bit of a braille character is the dot at a row and column (Unicode Standard, “Braille Patterns”).
    private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
}

/// From degrees to dots, with all of a track inside.
private struct Projection {
    private let west: Double
    private let north: Double
    private let shrink: Double
    private let scale: Double
    private let offset: (x: Double, y: Double)
    private let size: (x: Double, y: Double)

    init(_ track: [Coordinate], width: Double, height: Double) {
        let latitudes = track.map(\.latitude)
        let longitudes = track.map(\.longitude)
        west = longitudes.min() ?? 0
        north = latitudes.max() ?? 0
        let south = latitudes.min() ?? 0
        shrink = max(cos((north + south) / 2 * .pi / 180), 0.01)
        let across = ((longitudes.max() ?? 0) - west) * shrink
        let down = north - south
        // At least some 100 m across, so that a standing receiver's noise does not fill the picture.
        scale = min(width / max(across, 0.001), height / max(down, 0.001))
        offset = ((width - across * scale) / 2, (height - down * scale) / 2)
        size = (width, height)
    }

    func place(_ coordinate: Coordinate) -> (x: Int, y: Int) {
        let x = offset.x + (coordinate.longitude - west) * shrink * scale
        let y = offset.y + (north - coordinate.latitude) * scale
        return (Int(min(max(x, 0), size.x)), Int(min(max(y, 0), size.y)))
    }
}
