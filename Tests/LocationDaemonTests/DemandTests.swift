import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemandTests {
    init() { EventLoop.startThread() }

    @Test("what the sources are to do follows each start, stop and threshold, of clients that want the same, too")
    @ServiceActor
    func union() async throws {
        let lab = try await Lab()
        let (fine, twin, coarse) = (try await lab.app(), try await lab.app(), try await lab.app(level: .city))
        for app in [fine, twin] { try await app.set("TimeThreshold", .uint32(60)) }
        func demand() async throws -> Demand? {
            for app in [fine, twin, coarse] { try await lab.settle(app.connection) }
            return lab.positioner.demand
        }

        try await fine.start()
        try await twin.start()
        #expect(try await demand() == Demand(level: .exact, minimumInterval: 60))

        try await coarse.start()
        #expect(try await demand() == Demand(level: .exact, minimumInterval: 0))

        try await coarse.stop()
        try await fine.stop()
        #expect(try await demand() == Demand(level: .exact, minimumInterval: 60))

        try await twin.set("TimeThreshold", .uint32(5))
        #expect(try await demand() == Demand(level: .exact, minimumInterval: 5))

        try await twin.stop()
        #expect(try await demand() == nil)
    }
}
