import DBus
import Testing

@testable import WhereaboutsCommand

@Suite struct ReceivedLocationTests {
    private func location(
        heading: Double = 73, speed: Double = 14, altitude: Double = 4, time: (UInt64, UInt64) = (1_700_000_000, 5)
    ) -> ReceivedLocation? {
        ReceivedLocation([
            "Latitude": Variant(.double(58.5)), "Longitude": Variant(.double(9.25)), "Accuracy": Variant(.double(5)),
            "Altitude": Variant(.double(altitude)), "Speed": Variant(.double(speed)),
            "Heading": Variant(.double(heading)), "Description": Variant(.string("Simulated")),
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
