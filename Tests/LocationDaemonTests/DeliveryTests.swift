import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

@Suite(.timeLimit(.minutes(1))) struct DeliveryTests {
    init() { EventLoop.startThread() }

    @Test("the first fix after a Start is told whatever was told before, also where it comes late")
    @ServiceActor
    func firstAgain() async throws {
        let lab = try await Lab()
        let app = try await lab.app()
        try await app.set("TimeThreshold", .uint32(3600))
        try await app.set("DistanceThreshold", .uint32(100))
        try await app.start()
        await lab.receiver.demanded()
        lab.receiver.send(48, 11)
        #expect(try await app.nextPlace() == [48, 11])

        try await app.stop()
        await lab.clock.advance(by: .seconds(67))
        try await app.start()
        lab.receiver.send(48, 11.000_01)
        #expect(try await app.nextPlace() == [48, 11.000_01])

        lab.receiver.send(48, 11.000_02)
        try await lab.settle(app.connection)
        #expect(app.updateCount == 2)
    }

    @Test("the last position that a congested bus did not take is told when it takes more, though no fix comes")
    @ServiceActor
    func congestion() async throws {
        let lab = try await Lab()
        let app = try await lab.running()
        lab.bus.pause()
        try lab.congest()
        for step in 1...3 {
            await lab.clock.advance(by: .seconds(1))
            lab.receiver.send(Lab.place[0] + Double(step) / 100_000, Lab.place[1])
        }
        #expect(lab.isCongested)

        lab.bus.resume()
        await until { !lab.isCongested }
        await lab.clock.advance(by: .seconds(1))

        #expect(try await app.nextPlace() == [Lab.place[0] + 3 / 100_000, Lab.place[1]])
    }
}
