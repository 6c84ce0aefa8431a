import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import NMEA
import NMEATestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite("Cases: choice among sources", .timeLimit(.minutes(1))) struct SourceCases {
    init() { EventLoop.startThread() }

    @Test("a set place comes before a lookup, follows its file, and gives way when the file goes")
    @ServiceActor
    func setPlace() async throws {
        let clock = ManualClock()
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "geolocation")
        func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }
        try write("10.5\n20.5\n0\n30\n")
        let place = FilePlaceSource.fixed(file.path, clock: clock)
        let lookup = ScriptedSource("ip", kind: .ip, level: .city, clock: clock)
        lookup.onRun = { source, demand in
            if demand != nil { source.send(40, -70, accuracy: 25_000) }
        }
        let service = try await WholeService([place, lookup], clock: clock)
        let application = try await service.startedApplication()
        func latitudes() -> [Double] { application.locations.map(\.latitude) }
        // A change may be seen in two parts, and the second one is looked at a second later.
        func follow(until isFollowed: @escaping @ServiceActor () -> Bool) async {
            await until {
                if let wait = clock.untilNextTimer, wait <= .seconds(1) { await clock.advance(by: wait) }
                return isFollowed()
            }
        }

        #expect(latitudes() == [10.5])
        await clock.advance(by: .seconds(2))
        try write("11.0\n21.0\n0\n30\n")
        await follow { service.positioner.position.fine?.coordinate.latitude == 11 }
        await application.settle()
        #expect(latitudes() == [10.5, 11])
        await clock.advance(by: .seconds(2))
        try write("nonsense\n")
        await follow { place.availableLevel == .none }
        await application.settle()
        #expect(latitudes() == [10.5, 11, 40])
        await clock.advance(by: .seconds(2))
        try write("# a comment\r\n10.5\r\n20.5\r\n0\r\n30\r\n")
        await follow { place.availableLevel == .exact }
        await application.settle()
        #expect(latitudes() == [10.5, 11, 40, 10.5])
        await clock.advance(by: .seconds(2))
        try FileManager.default.removeItem(at: file)
        await follow { place.availableLevel == .none }
        await application.settle()

        #expect(latitudes() == [10.5, 11, 40, 10.5, 40])
        #expect(application.locations.map(\.description) == ["Fixed", "Fixed", "IP", "Fixed", "IP"])
    }

    @Test("while the receiver is fresh nothing else is told; after it Wi-Fi; and the receiver again at its first fix")
    @ServiceActor
    func noHopping() async throws {
        let clock = ManualClock()
        let receiver = ScriptedSource("nmea-socket", clock: clock)
        let wifi = ScriptedSource("wifi", kind: .wifi, level: .street, clock: clock)
        let lookup = ScriptedSource("ip", kind: .ip, level: .city, clock: clock)
        let service = try await WholeService([receiver, wifi, lookup], clock: clock)
        let application = try await service.startedApplication()
        lookup.send(0.27, 0, accuracy: 25_000)
        /// What came in which second.
        var log: [(second: Int, kind: String)] = []
        var told = 1
        func pass(_ seconds: Range<Int>, hasReceiver: Bool) async {
            for second in seconds {
                if hasReceiver {
                    receiver.send(0, Double(second) * 10 / 111_195, accuracy: 5, speed: 10, heading: 90)
                }
                if second % 10 == 5 { wifi.send(0, -2000 / 111_195, accuracy: 40) }
                await clock.advance(by: .seconds(1))
                await application.settle()
                log += application.locations.dropFirst(told).map { (second, $0.description) }
                told = application.locations.count
            }
        }
        await application.settle()
        told = application.locations.count

        await pass(0..<120, hasReceiver: true)
        #expect(log.count == 120 && log.allSatisfy { $0.kind == "GNSS" })
        log = []
        await pass(120..<300, hasReceiver: false)
        let first = try #require(log.first)
        // Its last fix was that of second 119.
        #expect((129...179).contains(first.second))
        #expect(log.allSatisfy { $0.kind == "Wi-Fi" } && application.locations.last?.accuracy == 40)
        log = []
        await pass(300..<303, hasReceiver: true)

        #expect(log.map(\.kind) == ["GNSS", "GNSS", "GNSS"])
    }

    @Test(
        "speed, heading and altitude are a receiver's own, unknown with Wi-Fi, and worked out from one receiver alone")
    @ServiceActor
    func movement() async throws {
        let clock = ManualClock()
        let server = try LoopbackServer()
        let receiver = NMEASocketSource(address: server.address, clock: clock)
        let wifi = ScriptedSource("wifi", kind: .wifi, level: .street, clock: clock)
        let service = try await WholeService([receiver, wifi], clock: clock)
        let application = try await service.startedApplication()
        let peer = try await server.nextPeer()
        let unknown = -Double.greatestFiniteMagnitude
        /// Sends what belongs to one second, and waits for what comes of it.
        func tell(_ text: String) async {
            let count = application.locations.count
            peer.send(text)
            await until {
                await clock.advance(by: EpochAssembler.silence)
                await application.settle()
                return application.locations.count > count
            }
        }
        /// The system clock as a receiver writes it.
        func time() -> String {
            let milliseconds = clock.wallTime / 1000 % 86_400_000
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
            let digits = 1_000_000 + seconds / 3600 * 10000 + seconds / 60 % 60 * 100 + seconds % 60
            return String(digits).dropFirst() + "." + String(1000 + rest).dropFirst()
        }
        func height(north: String) -> String {
            nmea("GPGGA,\(time()),\(north),N,02000.0000,E,1,08,1.0,-3.2,M,0.0,M,,")
        }

        await tell(
            nmea("GPRMC,\(time()),A,1030.0000,N,02000.0000,E,10.0,90.0,010626,,,A") + height(north: "1030.0000"))
        let sailing = try #require(application.locations.last)
        #expect(abs(sailing.speed - 5.144) < 0.05 && sailing.heading == 90 && sailing.altitude == -3.2)

        await clock.advance(by: .seconds(120))
        wifi.send(10.5, 20, accuracy: 30)
        await application.settle()
        let scanned = try #require(application.locations.last)
        #expect(scanned.description == "Wi-Fi")
        #expect(scanned.speed == -1 && scanned.heading == -1 && scanned.altitude == unknown)

        await tell(height(north: "1030.0100"))
        let alone = try #require(application.locations.last)
        #expect(alone.description == "GNSS" && alone.speed == -1 && alone.heading == -1)
        await clock.advance(by: .seconds(5))
        await tell(height(north: "1030.0200"))
        let moving = try #require(application.locations.last)
        // A hundredth of a minute is 18.5 m, and it took a little more than five seconds.
        #expect((3...3.7).contains(moving.speed) && abs(moving.heading) < 1)
        await clock.advance(by: .seconds(11))
        await tell(height(north: "1030.0300"))

        #expect(application.locations.last?.speed == -1 && application.locations.last?.heading == -1)
    }
}
