import Foundation
import Geolocation
import LocationTestSupport
import Testing

@Suite("The coarse grid")
struct CoarseGridTests {
    /// Places all over the Earth, equally dense everywhere, with the awkward ones added; the same in each run.
    private static let places: [Coordinate] = {
        var generator = SplitMix64(7)
        let random = (0..<4_000).compactMap { _ in
            Coordinate(
                latitude: asin(Double.random(in: -1...1, using: &generator)) * 180 / .pi,
                longitude: Double.random(in: -180...180, using: &generator))
        }
        let polar = (0..<1_000).compactMap { index in
            Coordinate(
                latitude: (index % 2 == 0 ? 1 : -1) * (90 - pow(10, Double.random(in: -9...1, using: &generator))),
                longitude: Double.random(in: -180...180, using: &generator))
        }
        let latitudes = [-90, -89.9999, -86.25, -45, -1e-12, 0, 1e-12, 3.75, 52.52, 86.25, 89.9999, 90]
        let longitudes = [-180, -179.9999, -90, -1e-12, 0, 1e-12, 13.405, 179.9999, 180]
        let awkward = latitudes.flatMap { latitude in
            longitudes.compactMap { Coordinate(latitude: latitude, longitude: $0) }
        }
        return random + polar + awkward
    }()

    @Test("only the levels between none and exact have cells", arguments: AccuracyLevel.allCases)
    func levels(level: AccuracyLevel) throws {
        let place = try #require(Coordinate(latitude: 10, longitude: 20))

        #expect((CoarseGrid.cell(containing: place, at: level) != nil) == (level.coarseRadius != nil))
    }

    @Test("the radius around a cell's centre holds every place in it", arguments: CoarseGrid.levels)
    func radius(level: AccuracyLevel) throws {
        let radius = try #require(level.coarseRadius)

        let farthest = try Self.places.map { place in
            try #require(CoarseGrid.cell(containing: place, at: level)).center.distance(to: place)
        }.max()

        #expect(try #require(farthest) <= radius)
    }

    @Test("the radius still holds on the ellipsoid's longest degree", arguments: CoarseGrid.levels)
    func ellipsoid(level: AccuracyLevel) throws {
        let radius = try #require(level.coarseRadius)
        // 111 694 m: one degree of latitude at the poles and of arc along their parallels, against 111 195 on the sphere.
        let stretch = 111_694.0 / 111_195.08

        let farthest = try Self.places.map { place in
            try #require(CoarseGrid.cell(containing: place, at: level)).center.distance(to: place)
        }.max()

        #expect(try #require(farthest) * stretch <= radius)
    }

    @Test("cells are not much smaller than they claim to be", arguments: CoarseGrid.levels)
    func size(level: AccuracyLevel) throws {
        let radius = try #require(level.coarseRadius)

        // A thin cell would tell more than its radius says. North to south all cells of a level are alike.
        for place in Self.places.prefix(1_000) where abs(place.latitude) < 89 {
            let cell = try #require(CoarseGrid.cell(containing: place, at: level))
            let east = try #require(nextCell(east: cell))
            #expect(cell.center.distance(to: east.center) > 0.4 * radius)
        }
    }

    /// The cell beside `cell`, found by walking east in small steps.
    private func nextCell(east cell: CoarseGrid.Cell) -> CoarseGrid.Cell? {
        var longitude = cell.center.longitude
        let step = 0.02 * 360 * (cell.level.coarseRadius ?? 0) / (2 * .pi * Coordinate.earthRadius)
        for _ in 0..<10_000 {
            longitude += step / max(cos(cell.center.latitude * .pi / 180), 1e-3)
            if longitude >= 180 { longitude -= 360 }
            guard let place = Coordinate(latitude: cell.center.latitude, longitude: longitude) else { return nil }
            let found = CoarseGrid.cell(containing: place, at: cell.level)
            if found != cell { return found }
        }
        return nil
    }

    @Test("a cell's centre lies in the cell", arguments: CoarseGrid.levels)
    func center(level: AccuracyLevel) throws {
        for place in Self.places {
            let cell = try #require(CoarseGrid.cell(containing: place, at: level))
            #expect(CoarseGrid.cell(containing: cell.center, at: level) == cell)
        }
    }

    @Test("two places of one cell share all larger cells too")
    func nesting() throws {
        var around: [CoarseGrid.Cell: CoarseGrid.Cell] = [:]
        for place in Self.places + Self.places.flatMap(neighbours) {
            let cells = try CoarseGrid.levels.map { try #require(CoarseGrid.cell(containing: place, at: $0)) }
            for (larger, smaller) in zip(cells, cells.dropFirst()) {
                #expect(around[smaller] == nil || around[smaller] == larger)
                around[smaller] = larger
            }
        }
    }

    /// Places a few hundred metres to a few kilometres off.
    private func neighbours(of place: Coordinate) -> [Coordinate] {
        [(0.004, 0), (-0.004, 0.004), (0.02, -0.03)].compactMap {
            Coordinate(latitude: place.latitude + $0.0, longitude: place.longitude + $0.1)
        }
    }

    @Test("180 degrees east and west are one meridian", arguments: CoarseGrid.levels)
    func dateLine(level: AccuracyLevel) throws {
        for latitude in stride(from: -90.0, through: 90, by: 0.37) {
            let east = try #require(Coordinate(latitude: latitude, longitude: 180))
            let west = try #require(Coordinate(latitude: latitude, longitude: -180))
            #expect(CoarseGrid.cell(containing: east, at: level) == CoarseGrid.cell(containing: west, at: level))
        }
    }

    @Test("a walk over a border changes the cell once, and back again to the same one")
    func border() throws {
        let walk = try (0...4000).map { step in
            let place = try #require(Coordinate(latitude: 48.5 + Double(step) * 1e-5, longitude: 11.5))
            return try #require(CoarseGrid.cell(containing: place, at: .street))
        }

        let changes = zip(walk, walk.dropFirst()).filter { $0 != $1 }.count
        #expect(changes == 3)
        #expect(Set(walk).count == 4)
    }

    /// A place and the centres of its cells, coarsest first.
    struct Published: Sendable {
        let latitude: Double
        let longitude: Double
        let centers: [(Double, Double)]
    }

    /// The centres were worked out apart from this code, from the grid's description alone.
    @Test(
        "the grid is the published one",
        arguments: [
            Published(
                latitude: 52.52, longitude: 13.405,
                centers: [(54.375, 15.5172414), (52.59375, 13.5), (52.51875, 13.3758621), (52.51875, 13.3965517)]),
            Published(
                latitude: -33.8688, longitude: 151.2093,
                centers: [
                    (-35.625, 150.3797468), (-33.84375, 151.1772152), (-33.88125, 151.2227848),
                    (-33.86875, 151.2075949),
                ]),
            Published(
                latitude: 90, longitude: 0, centers: [(88.125, 0), (89.90625, 0), (89.98125, 0), (89.99375, 0)]),
            Published(
                latitude: 0, longitude: -0.001,
                centers: [(1.875, 0), (0.09375, -0.0947368), (0.01875, -0.0189474), (0.00625, -0.0063158)]),
        ])
    func published(known: Published) throws {
        let place = try #require(Coordinate(latitude: known.latitude, longitude: known.longitude))

        for (level, center) in zip(CoarseGrid.levels, known.centers) {
            let cell = try #require(CoarseGrid.cell(containing: place, at: level))
            #expect(abs(cell.center.latitude - center.0) < 1e-7)
            #expect(abs(cell.center.longitude - center.1) < 1e-7)
        }
    }

    @Test("printing a cell does not print where it is")
    func description() throws {
        let place = try #require(Coordinate(latitude: 12.345, longitude: 67.89))
        let cell = try #require(CoarseGrid.cell(containing: place, at: .city))

        var dumped = ""
        dump(cell, to: &dumped)

        let text = "\(cell) \(String(reflecting: cell)) \(dumped)"
        #expect(!text.contains { $0.isNumber })
    }
}
