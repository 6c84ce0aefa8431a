import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PositionTests {
    init() { EventLoop.startThread() }

    @Test("a receiver's position reaches the application that asked, as the receiver gave it")
    @ServiceActor
    func position() async throws {
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        await daemon.feed.connected()

        daemon.feed.send(latitude: 48.1173, longitude: 11.5167)
        let location = try await client.nextLocation()

        #expect(abs((location.number("Latitude") ?? 0) - 48.1173) < 1e-6)
        #expect(abs((location.number("Longitude") ?? 0) - 11.5167) < 1e-6)
    }
}
