import Glibc

/// The fixed and public grid that coarse positions are taken from: nested cells of 1, 3, 15 and 300 km.
///
/// The Earth is cut into 48 rows of 3.75° from pole to pole, and each of them into 20, 5 and 3 rows of the finer
/// levels. A row has as many columns as its widest parallel needs, in whole parts of the columns of the row around
/// it, so that each larger cell is made of whole smaller ones. No cell's side is longer than its radius × √2, so that
/// the radius around its centre holds the whole cell; the rows are 1.7 % lower than that, which is more than an
/// ellipsoid differs from the sphere.
///
/// The grid depends on nothing but this file: a secret offset would be given away by one coarse fix. It does not hang
/// on rounding either: no row needs a number of columns that is within 10⁻⁶ of a whole one.
package enum CoarseGrid {
    /// The levels that have cells, coarsest first.
    package static let levels: [AccuracyLevel] = [.country, .city, .neighborhood, .street]

    /// One cell. Two cells are equal only if they are of one level.
    package struct Cell: Sendable, Hashable {
        package let level: AccuracyLevel
        /// Counted from the South Pole.
        package let row: Int
        /// Counted eastward from the 180th meridian.
        package let column: Int
        package let center: Coordinate
    }

    /// The cell of `level` that `coordinate` lies in. A point on a border belongs to the cell north or east of it.
    ///
    /// - Returns: `nil` for levels without cells, `none` and `exact`.
    package static func cell(containing coordinate: Coordinate, at level: AccuracyLevel) -> Cell? {
        guard let depth = levels.firstIndex(of: level) else { return nil }
        let finest = levels.count - 1
        // Both positions are taken in the finest level and divided down: rounding cannot put a point into two cells
        // that do not lie within each other.
        let finestRows = rows(at: finest)
        var row = min(Int((coordinate.latitude + 90) / 180 * Double(finestRows)), finestRows - 1)
        let columns = columnCounts(aroundFinestRow: row)
        // The date line is one meridian, whichever sign it is given.
        let turn = coordinate.longitude < 180 ? (coordinate.longitude + 180) / 360 : 0
        var column = min(Int(turn * Double(columns[finest])), columns[finest] - 1)
        for coarser in (depth..<finest).reversed() {
            row /= subdivisions[coarser + 1]
            column /= columns[coarser + 1] / columns[coarser]
        }
        let latitude = (Double(row) + 0.5) / Double(rows(at: depth)) * 180 - 90
        let longitude = (Double(column) + 0.5) / Double(columns[depth]) * 360 - 180
        return Coordinate(latitude: latitude, longitude: longitude).map {
            Cell(level: level, row: row, column: column, center: $0)
        }
    }

    /// Into how many rows a row of the next coarser level is cut; for the coarsest, how many there are.
    ///
    /// 48 is the least even number of rows that are no higher than 300 km × √2.
    private static let subdivisions = [48, 20, 5, 3]

    private static func rows(at depth: Int) -> Int {
        subdivisions[...depth].reduce(1, *)
    }

    /// How many columns go around the Earth at each level, in the rows that hold `finestRow`.
    private static func columnCounts(aroundFinestRow finestRow: Int) -> [Int] {
        var counts: [Int] = []
        for (depth, level) in levels.enumerated() {
            let side = (level.coarseRadius ?? 0) * 2.0.squareRoot()
            let parts = circumference(ofRow: finestRow * rows(at: depth) / rows(at: levels.count - 1), at: depth) / side
            let around = counts.last ?? 1
            counts.append(around * Int((parts / Double(around)).rounded(.up)))
        }
        return counts
    }

    /// Length in metres of the widest parallel of a row, which is the one nearer to the equator.
    private static func circumference(ofRow row: Int, at depth: Int) -> Double {
        let count = rows(at: depth)
        let edge = row < count / 2 ? row + 1 : row
        let latitude = Double(edge) / Double(count) * 180 - 90
        return 2 * .pi * Coordinate.earthRadius * cos(latitude.radians)
    }
}

extension CoarseGrid.Cell: CustomStringConvertible, CustomReflectable {
    /// Withholds which cell it is, as ``Coordinate`` withholds its angles.
    package var description: String { "Cell(withheld)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
