/// How finely a place is known, asked for or allowed, on GeoClue's scale (the raw values are those of its interface).
package enum AccuracyLevel: UInt32, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    case none = 0
    case country = 1
    case city = 4
    case neighborhood = 5
    case street = 6
    case exact = 8

    /// The level that a number on the wire stands for: one that is no level counts as the next lower one, one above
    /// the highest as exact. Zero is `none`.
    package init(wire: UInt32) {
        self = Self.allCases.last { $0.rawValue <= wire } ?? .none
    }

    package var description: String {
        switch self {
        case .none: "none"
        case .country: "country"
        case .city: "city"
        case .neighborhood: "neighborhood"
        case .street: "street"
        case .exact: "exact"
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Radius in metres that a fix disclosed at this level claims at least; `nil` for exact fixes, which keep their own.
    package var coarseRadius: Double? {
        switch self {
        case .none, .exact: nil
        case .country: 300_000
        case .city: 15_000
        case .neighborhood: 3_000
        case .street: 1_000
        }
    }
}
