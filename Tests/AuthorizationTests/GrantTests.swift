import Geolocation
import Testing

@testable import Authorization

@Suite struct GrantTests {
    private static let place = Coordinate(latitude: 1, longitude: 2)!
    private static let fine = Fix(
        coordinate: place, horizontalAccuracy: 5, timestamp: Timestamp(seconds: 1), measuredAt: .seconds(1),
        kind: .gnss, source: "gpsd")
    private static let coarse = Fix(
        coordinate: place, horizontalAccuracy: 25_000, timestamp: Timestamp(seconds: 1), measuredAt: .seconds(1),
        kind: .ip, source: "ip")
    private static let cell = CoarseFix(
        coordinate: place, radius: 15_000, timestamp: Timestamp(seconds: 600), isSimulated: false)

    private func grant(_ requested: AccuracyLevel, upTo allowed: AccuracyLevel) -> Grant {
        Grant(requestedLevel: requested, allowedLevel: allowed, decidedBy: .record)
    }

    @Test("the lower of what was asked and what is allowed takes effect")
    func level() {
        #expect(grant(.exact, upTo: .city).level == .city)
        #expect(grant(.city, upTo: .exact).level == .city)
    }

    @Test("an exact grant discloses the fine fix")
    func exact() {
        let position = Position(fine: Self.fine, coarse: [.city: .cell(Self.cell)])

        #expect(grant(.exact, upTo: .exact).disclose(position)?.content == .full(Self.fine))
        #expect(grant(.exact, upTo: .exact).disclose(Position(coarse: [.city: .cell(Self.cell)])) == nil)
    }

    @Test("a coarse grant discloses its own level's cell, or what is coarse by kind as it is")
    func coarse() {
        let gridded = Position(fine: Self.fine, coarse: [.city: .cell(Self.cell)])
        let found = Position(fine: Self.coarse, coarse: [.city: .asFound(Self.coarse)])

        #expect(grant(.exact, upTo: .city).disclose(gridded)?.content == .reduced(Self.cell))
        #expect(grant(.city, upTo: .exact).disclose(gridded)?.content == .reduced(Self.cell))
        #expect(grant(.city, upTo: .exact).disclose(found)?.content == .full(Self.coarse))
    }

    @Test("nothing finer ever stands in for a missing coarse fix")
    func noStandIn() {
        let position = Position(fine: Self.fine, coarse: [.city: .cell(Self.cell)])

        for level in [AccuracyLevel.country, .neighborhood, .street, .none] {
            #expect(grant(.exact, upTo: level).disclose(position) == nil)
        }
    }
}
