import DBus
import Testing

@testable import WhereaboutsCommand

@Suite struct ReceivedLocationTests {
    private func location(
        accuracy: Double = 5, heading: Double = 73, speed: Double = 14, altitude: Double = 4,
        description: String = "Simulated",
        time: (UInt64, UInt64) = (1_700_000_000, 5)
    ) -> ReceivedLocation? {
        ReceivedLocation([
            "Latitude": Variant(.double(58.5)), "Longitude": Variant(.double(9.25)),
            "Accuracy": Variant(.double(accuracy)),
            "Altitude": Variant(.double(altitude)), "Speed": Variant(.double(speed)),
            "Heading": Variant(.double(heading)), "Description": Variant(.string(description)),
            "Timestamp": Variant(.structure([.uint64(time.0), .uint64(time.1)])),
        ])
    }

    @Test("a position is a line")
    func line() {
        #expect(
            location()?.line == "22:13:20  58.50000° N 9.25000° E  ±5.0 m  50.4 km/h  73° →  4 m up  Simulated")
    }

    @Test(
        "a heading that is none is left out",
        arguments: [-1, 360, 1e300, .infinity, -.infinity, .nan] as [Double])
    func oddHeading(heading: Double) {
        #expect(
            location(heading: heading)?.line == "22:13:20  58.50000° N 9.25000° E  ±5.0 m  50.4 km/h  4 m up  Simulated"
        )
    }

    @Test("what a service says is one line of text for a terminal")
    func forgedText() {
        let text = "\u{1B}[31mred\u{1B}]0;title\u{7}\r\nline\u{202E}\u{9B}\u{2028}end"
        let line = location(description: text)?.line ?? ""

        let acting: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
        #expect(
            line.hasSuffix("end") && line.unicodeScalars.allSatisfy { !acting.contains($0.properties.generalCategory) })
        #expect((location(description: String(repeating: "x", count: 300_000))?.line.count ?? .max) < 300)
    }

    @Test("a radius below zero is no position, and a heading close to north is north")
    func oddNumbers() {
        #expect(location(accuracy: -5) == nil)
        #expect(location(heading: 359.9999999)?.line.contains("  0° ↑  ") == true)
    }

    @Test("a time that cannot be is no position, and one far away is a time")
    func oddTime() {
        #expect(location(time: (.max, 0)) == nil)
        #expect(location(time: (.max / 1_000_000, .max)) == nil)
        #expect(location(time: (.max / 1_000_000, 0))?.line.isEmpty == false)
    }

    @Test("numbers too large for a line are not written", arguments: [1e300, .infinity, .nan] as [Double])
    func odd(number: Double) {
        #expect(location(speed: number, altitude: number)?.line.isEmpty == false)
    }
}
