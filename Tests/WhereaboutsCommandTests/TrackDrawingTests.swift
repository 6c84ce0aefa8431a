import Geolocation
import Testing

@testable import WhereaboutsCommand

@Suite struct TrackDrawingTests {
    @Test("a place that stays is in the middle of the picture")
    func middle() throws {
        var drawing = TrackDrawing()
        for _ in 0..<2 { drawing.append(try #require(Coordinate(latitude: 58, longitude: 9))) }

        let lines = drawing.lines(columns: 5, rows: 3)

        #expect(lines.map { $0.count } == [5, 5, 5])
        #expect(lines[1].dropFirst(2).first == "◉")
    }

    @Test("a way from north to south goes from the top to the bottom, in the middle")
    func southward() throws {
        var drawing = TrackDrawing()
        for step in 0..<50 {
            drawing.append(try #require(Coordinate(latitude: 58 - Double(step) / 1000, longitude: 9)))
        }

        #expect(drawing.lines(columns: 5, rows: 3).map { $0.dropFirst(2).first } == ["⡇", "⡇", "◉"])
    }
}
