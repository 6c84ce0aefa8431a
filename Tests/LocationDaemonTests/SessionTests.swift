import Authorization
import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// What logind says of users, and what comes of it.
@Suite(.timeLimit(.minutes(1))) struct SessionTests {
    init() { EventLoop.startThread() }

    @Test("what holds for the session ends with the user's last one")
    @ServiceActor
    func session() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["one": (1000, 1), "two": (1000, 2), "other": (2, 1)])
        let lab = try await Lab(Lab.policy(.ask), bus: bus)
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", ["decision": .string("allow"), "lifetime": .string("session")])
        let a = try await lab.running("a")
        try await administrator.subscribe()

        try login1.end("one")
        try await lab.settle(a.connection)
        try await lab.settle(a.connection)
        let afterFirst = try await a.isActive
        try login1.end("two")

        #expect(try await administrator.nextChange() == "claimed:a")
        #expect(afterFirst)
        try await a.becomes(active: false)
    }

    @Test(
        "a logind that hangs is asked one thing at a time, however often it says that a session has ended, and again later"
    )
    @ServiceActor
    func sessionFlood() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["one": (1000, 1), "other": (2, 1)])
        let lab = try await Lab(Lab.policy(.ask), bus: bus, deadlinesByClock: true)
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", ["decision": .string("allow"), "lifetime": .string("session")])
        for _ in 0..<3 { try await lab.settle(administrator.connection) }
        let before = login1.asked.count
        login1.isMute = true

        for _ in 0..<1000 { try login1.end("other") }
        await until { login1.asked.count > before }
        for _ in 0..<20 { try await lab.settle(administrator.connection) }
        let whileMute = login1.asked.count - before
        login1.isMute = false
        await lab.clock.advance(by: .seconds(10))
        await lab.clock.advance(by: .seconds(60))
        for _ in 0..<5 { try await lab.settle(administrator.connection) }

        #expect(whileMute == 1)
        #expect(login1.asked.count == before + 2)
    }

    @Test("while logind hangs use shows whoever sits at the machine, and it is asked again a minute later")
    @ServiceActor
    func muteAboutUsers() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["one": (1000, 1)])
        let lab = try await Lab(bus: bus, deadlinesByClock: true)
        let app = try await lab.app()
        login1.isMuteAboutUsers = true
        login1.set("online", of: 1000)
        try await app.start()
        for _ in 0..<3 { try await lab.settle(app.connection) }

        await lab.clock.advance(by: .seconds(25))
        for _ in 0..<3 { try await lab.settle(app.connection) }
        let whileMute = try await lab.isInUse
        login1.isMuteAboutUsers = false
        await lab.clock.advance(by: .seconds(60))
        for _ in 0..<5 { try await lab.settle(app.connection) }
        await lab.clock.advance(by: .seconds(3))

        #expect(whileMute)
        #expect(try await !lab.isInUse)
    }

    @Test("what held for a session that ended while the service was away ends when it is back")
    @ServiceActor
    func missedSession() async throws {
        let clock = ManualClock()
        func record(_ key: String, at seconds: Int64) -> AuthorizationRecord {
            AuthorizationRecord(
                userID: 1000, key: key, decision: .allow, author: .user(1000), lifetime: .session,
                created: Timestamp(microseconds: clock.wallTime + seconds * 1_000_000))
        }
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["new": (1000, clock.wallTime - 100_000_000)])
        let book = RecordBook([record("host:before", at: -200), record("host:since", at: -50)])
        let lab = try await Lab(store: MemoryRecordStore(book), bus: bus)
        let administrator = try lab.administrator()

        while lab.authorizer.records(of: 1000).count > 1 { try await lab.settle(administrator.connection) }

        #expect(lab.authorizer.records(of: 1000).map(\.key) == ["host:since"])
        #expect(login1.sessions.count == 1)
    }

    @Test(
        "use shows while its user sits at the machine; users whose session is in the background, and services, do not show"
    )
    @ServiceActor
    func foreground() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["one": (1000, 1)])
        let lab = try await Lab(Lab.policy(applications: ["service": .init(isAllowed: true)]), bus: bus)
        let watcher = try lab.connect()
        let changes = Listener(
            watcher,
            MatchRule(
                path: GeoClueNames.managerPath, interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged"))
        func nextUse() async throws -> Value? {
            while true {
                let (_, values) = try await changes.next().read(as: String.self, [String: Variant].self)
                if let value = values["InUse"]?.value { return value }
            }
        }
        let service = try await lab.app("service", of: 107)
        try await service.start()
        for _ in 0..<3 { try await lab.settle(service.connection) }
        let withService = try await lab.isInUse
        let app = try await lab.app()

        try await app.start()
        let began = try await nextUse()
        login1.set("online", of: 1000)
        for _ in 0..<3 { try await lab.settle(app.connection) }
        await lab.clock.advance(by: .seconds(3))
        let ended = try await nextUse()
        login1.set("active", of: 1000)
        let again = try await nextUse()

        #expect(!withService)
        #expect([began, ended, again] == [.bool(true), .bool(false), .bool(true)])
        #expect(try await app.isActive)
    }
}
