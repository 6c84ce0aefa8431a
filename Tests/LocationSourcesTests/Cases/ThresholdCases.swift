import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// A receiver at 1 Hz that a test moves.
@ServiceActor
final class MovingReceiver {
    let clock = ManualClock()
    let source: ScriptedSource
    private var metresEast = 0.0

    init() { source = ScriptedSource("nmea-socket", clock: clock) }

    /// One fix a second, each `speed` metres further east on the equator, each read by `application` as it comes.
    func drive(seconds: Int, speed: Double, readBy application: Application) async {
        for _ in 0..<seconds {
            source.send(0, metresEast / 111_195, accuracy: 5, speed: speed, heading: 90)
            metresEast += speed
            await application.settle()
            await clock.advance(by: .seconds(1))
        }
    }

    /// One fix a second around a place `metres` north of the equator.
    func stand(seconds: Int, north metres: Double, noise: Double, _ random: inout SplitMix64) async {
        for _ in 0..<seconds {
            let (north, east) = (Double.random(in: -1...1, using: &random), Double.random(in: -1...1, using: &random))
            source.send(
                (metres + north * noise / 1.5) / 111_195, east * noise / 1.5 / 111_195, accuracy: 5, speed: 0)
            await clock.advance(by: .seconds(1))
        }
    }
}

@Suite("Cases: limits of clients", .timeLimit(.minutes(1))) struct ThresholdCases {
    init() { EventLoop.startThread() }

    @Test("without limits there is one update for each fix")
    @ServiceActor
    func noLimits() async throws {
        let receiver = MovingReceiver()
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let application = try await service.startedApplication()

        await receiver.drive(seconds: 60, speed: 5, readBy: application)

        #expect(application.locations.count == 60)
    }

    @Test("a limit in time keeps updates a minute apart, and the first one comes at once")
    @ServiceActor
    func time() async throws {
        let receiver = MovingReceiver()
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let application = try await service.startedApplication(time: 60)

        await receiver.drive(seconds: 1, speed: 5, readBy: application)
        #expect(application.locations.count == 1)
        await receiver.drive(seconds: 180, speed: 5, readBy: application)

        let metres = application.locations.map { $0.longitude * 111_195 }
        #expect(metres.map { $0.rounded() } == [0, 300, 600, 900])
    }

    @Test("of two limits both have to be met")
    @ServiceActor
    func both() async throws {
        let receiver = MovingReceiver()
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let application = try await service.startedApplication(distance: 200, time: 10)

        await receiver.drive(seconds: 125, speed: 5, readBy: application)

        let metres = application.locations.map { $0.longitude * 111_195 }
        #expect(metres.count == 4)
        #expect(zip(metres, metres.dropFirst()).allSatisfy { abs($1 - $0 - 200) <= 5 })
    }

    @Test("a limit may be set at any time, and holds for the next fix")
    @ServiceActor
    func anyTime() async throws {
        let receiver = MovingReceiver()
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let application = try await service.application()

        try await application.set("TimeThreshold", .uint32(60))
        try await application.set("DesktopId", .string("org.example.App"))
        try await application.set("TimeThreshold", .uint32(30))
        try await application.start()
        await receiver.drive(seconds: 20, speed: 5, readBy: application)
        #expect(application.locations.count == 1)
        try await application.set("TimeThreshold", .uint32(0))
        await receiver.drive(seconds: 5, speed: 5, readBy: application)
        #expect(application.locations.count == 6)
        try await application.stop()
        try await application.set("TimeThreshold", .uint32(10))
        try await application.start()
        await receiver.drive(seconds: 21, speed: 5, readBy: application)

        // The one of the new start, and then one every ten seconds.
        #expect(application.locations.count == 9)
    }

    @Test("noise around a place is one update, and a place beyond the limit one more, at once")
    @ServiceActor
    func noise() async throws {
        let receiver = MovingReceiver()
        var random = SplitMix64(1)
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let application = try await service.startedApplication(distance: 500)

        await receiver.stand(seconds: 600, north: 0, noise: 20, &random)
        await application.settle()
        #expect(application.locations.count == 1)
        await receiver.stand(seconds: 1, north: 600, noise: 20, &random)
        await application.settle()
        #expect(application.locations.count == 2)
        await receiver.stand(seconds: 600, north: 600, noise: 20, &random)
        await application.settle()

        #expect(application.locations.count == 2)
    }

    @Test("one client's limits do not touch another's")
    @ServiceActor
    func independent() async throws {
        let receiver = MovingReceiver()
        let service = try await WholeService([receiver.source], clock: receiver.clock)
        let slow = try await service.startedApplication(distance: 1000, time: 300)
        await receiver.drive(seconds: 1, speed: 5, readBy: slow)
        #expect(slow.locations.count == 1)

        let fast = try await service.startedApplication()
        await receiver.drive(seconds: 100, speed: 5, readBy: slow)
        try await fast.stop()
        await receiver.drive(seconds: 100, speed: 5, readBy: slow)
        await fast.settle()
        // The place as it was when it started, and then each fix.
        #expect(fast.locations.count == 101)
        try await fast.start()
        await receiver.drive(seconds: 200, speed: 5, readBy: slow)
        await fast.settle()

        #expect(fast.locations.count == 302)
        let metres = slow.locations.map { ($0.longitude * 111_195).rounded() }
        #expect(metres == [0, 1500])
    }
}
