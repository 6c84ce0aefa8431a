/// All that can be told about where the machine is: the finest fix, and what each coarser level may see of it.
///
/// What a client gets of it is decided by its grant alone.
package struct Position: Sendable, Hashable {
    /// The position that arbitration picked. `nil` while nothing is known.
    package var fine: Fix?

    /// What clients of the levels below `exact` see, by level.
    package var coarse: [AccuracyLevel: Coarse]

    package enum Coarse: Sendable, Hashable {
        /// A cell of the public grid, whatever the fine fix is.
        case cell(CoarseFix)
        /// A fix that is coarse by kind (IP, time zone, a set place with a radius of at least the level's), as it is.
        case asFound(Fix)
    }

    package init(fine: Fix? = nil, coarse: [AccuracyLevel: Coarse] = [:]) {
        self.fine = fine
        self.coarse = coarse
    }

    /// Takes the fix out, at every level that it passes to as it is. Cells stay.
    package mutating func removeFix() {
        fine = nil
        coarse = coarse.filter { $1.fix == nil }
    }
}

extension Position.Coarse {
    /// The fix that passes as it is; `nil` for a cell.
    package var fix: Fix? { if case .asFound(let fix) = self { fix } else { nil } }
}

/// The centre of one cell of the public grid, with nothing left of the fine fix that fell into it.
package struct CoarseFix: Sendable, Hashable {
    package let coordinate: Coordinate
    /// The level's radius, in metres.
    package let radius: Double
    /// The ten-minute tick at which the cell became current.
    package let timestamp: Timestamp
    package let isSimulated: Bool

    package init(coordinate: Coordinate, radius: Double, timestamp: Timestamp, isSimulated: Bool) {
        self.coordinate = coordinate
        self.radius = radius
        self.timestamp = timestamp
        self.isSimulated = isSimulated
    }
}
