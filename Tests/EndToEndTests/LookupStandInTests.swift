import EventLoop
import Foundation
import Testing

@Suite(
    .enabled(if: LookupStandIns.isPossible, "there are no stand-ins for wpa_supplicant and a lookup service"),
    .timeLimit(.minutes(2)))
struct LookupStandInTests {
    init() { EventLoop.startThread() }

    private static let withoutAddress = "[ip]\nenable=false\n"
    private static let firstScan = [
        "00:11:22:aa:00:01 -48 2437", "00:11:22:aa:00:02 -67 5180", "00:11:22:aa:00:03 -74 2412",
    ]

    private func check(_ requests: [LookupStandIns.Request]) {
        // Everything of it, so that nothing else can be in it.
        for request in requests {
            #expect(Set(request.body.keys) == ["considerIp", "fallbacks", "wifiAccessPoints"])
            let points = request.body["wifiAccessPoints"] as? [[String: any Sendable]] ?? []
            #expect(
                points.allSatisfy { Set($0.keys) == ["macAddress", "signalStrength", "frequency", "age"] })
            for name in [
                "home", "neighbour", "cafe", "private", "nomap", "hotspot", "office", "optout", "library", "ssid",
            ] { #expect(!request.line.lowercased().contains(name)) }
        }
    }

    @Test(
        "of the first scan exactly three access points are asked about, and the answer is told as it is",
        arguments: LookupStandIns.Flavour.allCases)
    @ServiceActor
    func firstScan(flavour: LookupStandIns.Flavour) async throws {
        let bench = try await LookupStandIns(
            flavour, scan: LookupStandIns.scans[0], configuration: Self.withoutAddress)
        let client = try await GeoClueClient(on: bench.daemon.bus)

        try await client.start()
        let location = try await client.nextLocation()

        #expect(abs((location.number("Latitude") ?? 0) - 52.52002) < 1e-5)
        let (longitude, accuracy) = flavour == .ichnaea ? (13.40492, 45.4) : (13.40493, 50)
        #expect(abs((location.number("Longitude") ?? 0) - longitude) < 1e-5)
        #expect(abs((location.number("Accuracy") ?? 0) - accuracy) < 0.05)
        #expect(bench.requests.map(\.accessPoints) == [Self.firstScan])
        check(bench.requests)
    }

    @Test("the second scan is another place", arguments: LookupStandIns.Flavour.allCases)
    @ServiceActor
    func secondScan(flavour: LookupStandIns.Flavour) async throws {
        let bench = try await LookupStandIns(
            flavour, scan: LookupStandIns.scans[1], configuration: Self.withoutAddress)
        let client = try await GeoClueClient(on: bench.daemon.bus)

        try await client.start()
        let location = try await client.nextLocation()

        // BeaconDB counts in the access point that is 1.9 km off.
        let (latitude, longitude) = flavour == .ichnaea ? (52.5164, 13.3778) : (52.51741, 13.38497)
        #expect(abs((location.number("Latitude") ?? 0) - latitude) < 1e-4)
        #expect(abs((location.number("Longitude") ?? 0) - longitude) < 1e-4)
        #expect(
            bench.requests.map(\.accessPoints) == [
                [
                    "00:11:22:bb:00:01 -51 2412", "00:11:22:bb:00:02 -52 2412", "00:11:22:aa:00:02 -58 5180",
                ]
            ])
        check(bench.requests)
    }

    @Test(
        "with one access point or none nobody is asked, until more are heard",
        arguments: [2, 3], LookupStandIns.Flavour.allCases)
    @ServiceActor
    func tooLittle(scan: Int, flavour: LookupStandIns.Flavour) async throws {
        let bench = try await LookupStandIns(
            flavour, scan: LookupStandIns.scans[scan], configuration: Self.withoutAddress)
        let client = try await GeoClueClient(on: bench.daemon.bus)

        try await client.start()
        try await bench.hasRead()
        try await bench.hear(LookupStandIns.scans[0])
        _ = try await client.nextLocation()

        #expect(bench.scanRequests >= 1)
        #expect(bench.requests.map(\.accessPoints) == [Self.firstScan])
    }

    @Test(
        "without a client no request leaves and no scan is started, whatever others scan",
        .enabled(if: LookupStandIns.silence != nil, "SILENCE_SECONDS does not say how long"))
    @ServiceActor
    func silence() async throws {
        let bench = try await LookupStandIns(.ichnaea, scan: LookupStandIns.scans[0])
        let seconds = try #require(LookupStandIns.silence)

        for second in 0..<seconds {
            // What is not to happen cannot be waited for.
            try await Task.sleep(for: .seconds(1))
            if second % 10 == 0 { try await bench.hear(LookupStandIns.scans[second / 10 % 2]) }
        }

        #expect(bench.requests.isEmpty && bench.scanRequests == 0)
        let client = try await GeoClueClient(on: bench.daemon.bus)
        try await client.start()
        _ = try await client.nextLocation()
        #expect(!bench.requests.isEmpty)
    }
}
