import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// What becomes of clients and sources while the machine sleeps, by logind's word.
@Suite(.timeLimit(.minutes(1))) struct SleepTests {
    init() { EventLoop.startThread() }

    private static let home = [48.137154, 11.576124]
    private static let away = [53.550341, 10.000654]

    @ServiceActor
    private final class Bench {
        let login1: Login1
        let lab: Lab

        init(_ manner: Login1.Manner = .granting) async throws {
            let bus = try await PrivateBus()
            login1 = try await Login1(bus.connect(), ["1": (1000, 1)])
            login1.manner = manner
            lab = try await Lab(bus: bus)
            await until { self.login1.inhibitions.count == 1 }
        }

        /// An application that has had a fix.
        func app() async throws -> App {
            let app = try await lab.app()
            try await app.start()
            await lab.receiver.demanded()
            lab.receiver.send(home[0], home[1])
            #expect(try await app.nextPlace() == home)
            return app
        }

        func sleep() async throws {
            try login1.prepareForSleep(true)
            await until { self.lab.positioner.isSuspended }
        }

        func wake() async throws {
            try login1.prepareForSleep(false)
            await until { !self.lab.positioner.isSuspended }
        }
    }

    @Test(
        "sources stop before the machine sleeps and start when it wakes; the old place is not told again, the new one is"
    )
    @ServiceActor
    func sleepAndWake() async throws {
        let bench = try await Bench()
        let app = try await bench.app()
        await until { bench.login1.heldLocks == 1 }
        #expect(bench.login1.inhibitions == ["sleep delay"])

        try await bench.sleep()
        #expect(!bench.lab.receiver.isRunning)
        await until { bench.login1.heldLocks == 0 }
        await bench.lab.clock.advance(by: .seconds(30))
        try await bench.wake()
        #expect(bench.lab.receiver.isRunning)
        bench.lab.receiver.send(Self.away[0], Self.away[1])

        #expect(try await app.nextPlace() == Self.away)
        #expect(app.updateCount == 2)
        await until { bench.login1.heldLocks == 1 }
    }

    @Test("a machine that has slept for hours is awake by its clock before anybody says so")
    @ServiceActor
    func unsaid() async throws {
        let bench = try await Bench()
        let app = try await bench.app()
        try await bench.sleep()

        await bench.lab.clock.advance(by: .seconds(8 * 3600))
        #expect(bench.lab.receiver.isRunning)
        bench.lab.receiver.send(Self.away[0], Self.away[1])

        #expect(try await app.nextPlace() == Self.away)
    }

    @Test("an application that starts while the machine is about to sleep waits for the wake")
    @ServiceActor
    func startsAsleep() async throws {
        let bench = try await Bench()
        try await bench.sleep()

        let app = try await bench.lab.app()
        try await app.start()
        #expect(try await app.isActive && bench.lab.receiver.demands.isEmpty)
        try await bench.wake()
        bench.lab.receiver.send(Self.home[0], Self.home[1])

        #expect(try await app.nextPlace() == Self.home)
    }

    @Test("without a delay lock the sources stop all the same", arguments: [Login1.Manner.refusing, .deaf])
    @ServiceActor
    func withoutLock(manner: Login1.Manner) async throws {
        let bench = try await Bench(manner)
        let app = try await bench.app()

        try await bench.sleep()
        #expect(!bench.lab.receiver.isRunning)
        try await bench.wake()

        #expect(bench.lab.receiver.starts == 2)
        #expect(app.updateCount == 1)
    }

    @Test(
        "a logind that leaves while the machine is about to sleep takes the sleep with it; one that comes is followed")
    @ServiceActor
    func leaves() async throws {
        let bench = try await Bench()
        let app = try await bench.app()
        try await bench.sleep()

        bench.login1.leave()
        await until { bench.lab.receiver.isRunning }
        let next = try await Login1(bench.lab.bus.connect(), ["1": (1000, 1)])
        await until { next.heldLocks == 1 }
        try next.prepareForSleep(true)

        await until { !bench.lab.receiver.isRunning }
        #expect(try await app.isActive)
    }

    @Test("a word that is repeated a thousand times changes nothing, and no more locks are held than one")
    @ServiceActor
    func flood() async throws {
        let bench = try await Bench()
        let app = try await bench.app()

        for _ in 0..<1000 { try bench.login1.prepareForSleep(true) }
        for _ in 0..<1000 { try bench.login1.prepareForSleep(false) }
        await until { bench.lab.receiver.starts == 2 && bench.login1.heldLocks == 1 }
        try await bench.lab.settle(app.connection)

        #expect(bench.lab.receiver.starts == 2 && bench.login1.heldLocks == 1)
        #expect(bench.login1.inhibitions.count == 2)
    }

    @Test("a stranger's word about sleep does not count")
    @ServiceActor
    func stranger() async throws {
        let bench = try await Bench()
        let app = try await bench.app()

        try app.connection.emit(
            "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", to: nil, true)
        try await bench.lab.settle(app.connection)

        #expect(bench.lab.receiver.isRunning)
    }
}
