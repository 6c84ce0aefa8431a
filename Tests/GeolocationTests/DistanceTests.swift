import Geolocation
import Testing

@Suite("Distance and bearing")
struct DistanceTests {
    private func place(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try #require(Coordinate(latitude: latitude, longitude: longitude))
    }

    @Test("a degree along a meridian or the equator is 111 195 m")
    func degree() throws {
        let origin = try place(0, 0)

        #expect(abs(origin.distance(to: try place(1, 0)) - 111_195.08) < 0.01)
        #expect(abs(origin.distance(to: try place(0, 1)) - 111_195.08) < 0.01)
    }

    @Test("the distance between two cities is that of the great circle")
    func cities() throws {
        let berlin = try place(52.5200, 13.4050)
        let munich = try place(48.1370, 11.5750)

        #expect(abs(berlin.distance(to: munich) - 504_400) < 300)
        #expect(berlin.distance(to: munich) == munich.distance(to: berlin))
    }

    @Test("a millimetre is not lost to rounding")
    func short() throws {
        let here = try place(45, 100)

        #expect(abs(here.distance(to: try place(45 + 1e-8, 100)) - 0.001112) < 1e-6)
        #expect(here.distance(to: here) == 0)
    }

    @Test("the date line does not lengthen the way, and the farthest place is half a turn off")
    func dateLine() throws {
        #expect(abs(try place(0, 179.5).distance(to: try place(0, -179.5)) - 111_195.08) < 0.01)
        #expect(try place(10, 180).distance(to: try place(10, -180)) < 1e-6)
        #expect(abs(try place(90, 0).distance(to: try place(-90, 55)) - .pi * Coordinate.earthRadius) < 1e-3)
    }

    @Test(
        "the four directions are 0, 90, 180 and 270 degrees",
        arguments: [(1.0, 0.0, 0.0), (0, 1, 90), (-1, 0, 180), (0, -1, 270)])
    func directions(north: Double, east: Double, bearing: Double) throws {
        let origin = try place(0, 10)

        let found = try #require(origin.bearing(to: try place(north * 0.001, 10 + east * 0.001)))

        #expect(abs(found - bearing) < 1e-6)
    }

    @Test("far north, meridians run close together and the bearing is the true one")
    func farNorth() throws {
        let found = try #require(try place(60, 25).bearing(to: try place(60.001, 25.001)))

        #expect(abs(found - 26.56) < 0.01)
    }

    @Test("a place has no direction to itself, and north by a hair to the west stays below 360")
    func degenerate() throws {
        #expect(try place(10, 20).bearing(to: try place(10, 20)) == nil)
        let almostNorth = try #require(try place(0, 0).bearing(to: try place(80, -1e-300)))
        #expect((0..<360).contains(almostNorth))
    }
}
