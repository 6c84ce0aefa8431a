import Authorization
import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// Who is let in, who is asked, and what callers are told.
@Suite(.timeLimit(.minutes(1))) struct DecisionCaseTests {
    init() { EventLoop.startThread() }

    private static let maps = "org.example.Maps"

    @Test("with a record that allows, no agent is waited for")
    @ServiceActor
    func recordAlone() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let administrator = try lab.administrator()
        try await administrator.set("claimed:\(Self.maps)", "allow")
        let app = try await lab.app()

        let before = lab.clock.now
        try await app.start()
        await lab.receiver.demanded()
        lab.receiver.send(48.1, 11.5)

        #expect(try await app.nextPlace() == [48.1, 11.5])
        #expect(lab.clock.now == before)
    }

    @Test(
        "without agent and record the refusal is bounded, names the cause, powers nothing up, and comes at once afterwards"
    )
    @ServiceActor
    func nobodyToAsk() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let app = try await lab.app()

        async let first = app.startError()
        while lab.authorizer.openQuestions == 0 { try await lab.settle(app.connection) }
        await lab.clock.advance(by: .seconds(5))
        let refusal = await first
        var later: [BusError?] = []
        for _ in 0..<100 { later.append(await app.startError()) }

        #expect(refusal?.name == "org.freedesktop.DBus.Error.AccessDenied")
        let text = refusal?.message ?? ""
        for part in [Self.maps, "no agent for UID 1000", "nobody is there to ask", "SetRecord", "claimed:\(Self.maps)"]
        {
            #expect(text.contains(part), "\(text)")
        }
        #expect(!text.contains("whereabouts grant"))
        #expect(later.allSatisfy { $0 == refusal })
        #expect(lab.receiver.demands.isEmpty)
        let records = try await lab.administrator().list()
        #expect(records.count == 1)
        #expect(records.first?["decision"] == .string("ask"))
        #expect(records.first?["app"] == .string("claimed:\(Self.maps)"))
    }

    @Test("ids: none and empty are refused, a suffix is dropped, bad ones are invalid, and no claim beats a sandbox")
    @ServiceActor
    func ids() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        func outcome(_ id: String?, _ facts: ProcessFacts = .plain) async throws -> String? {
            await (try lab.app(id, facts)).startError()?.name.string
        }

        #expect(try await outcome(nil) == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(try await outcome("") == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(agent.asked.isEmpty)
        #expect(try await outcome("org.example.App") == nil)
        #expect(try await outcome("org.example.App.desktop") == nil)
        #expect(agent.asked == ["org.example.App"])
        for bad in [String(repeating: "x", count: 300), "a/b", "a\u{202E}b", "a\nb", "a\u{2066}", "\u{1}"] {
            #expect(try await outcome(bad) == "org.freedesktop.DBus.Error.InvalidArgs")
        }
        #expect(try await outcome("org.example.App", .flatpak("org.example.Other")) == nil)
        #expect(try await outcome("org.example.Other.helper", .flatpak("org.example.Other")) == nil)
        #expect(try await outcome("a/b", .flatpak("org.example.Other")) == nil)
        #expect(agent.asked == ["org.example.App", "org.example.Other"])
    }

    @Test("an agent that comes during the wait is asked once, and every Start that waits succeeds")
    @ServiceActor
    func lateAgent() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let app = try await lab.app()

        async let first = app.startError()
        while lab.authorizer.openQuestions == 0 { try await lab.settle(app.connection) }
        async let second = app.startError()
        await lab.clock.advance(by: .seconds(3))
        let agent = try await lab.agent()

        #expect(await first == nil)
        #expect(await second == nil)
        #expect(agent.asked == [Self.maps])
        #expect(try await app.isActive)
    }

    @Test("a user without a session gets what the configuration allows, and all else is refused at once")
    @ServiceActor
    func systemUsers() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["1": (1000, 1)])
        let lab = try await Lab(
            Lab.policy(applications: ["x": .init(isAllowed: true, users: [0, 107])]), bus: bus)

        for user in [0, 107] as [UInt32] {
            #expect(await (try lab.app("x", of: user)).startError() == nil)
            let refusal = await (try lab.app("y", of: user)).startError()
            #expect(refusal?.name == "org.freedesktop.DBus.Error.AccessDenied")
            #expect(refusal?.message.contains("no rule for system uid") == true)
        }
        #expect(await (try lab.app("y")).startError() == nil)
        #expect(login1.sessions.count == 1)
    }

    @Test("while logind is there and does not say who is logged in, nobody counts as logged in, and nothing waits long")
    @ServiceActor
    func muteLogind() async throws {
        let bus = try await PrivateBus()
        let login1 = try await Login1(bus.connect(), ["1": (1000, 1)])
        let lab = try await Lab(
            Lab.policy(applications: ["x": .init(isAllowed: true)]), bus: bus, deadlinesByClock: true)
        let (plain, configured) = (try await lab.app("y"), try await lab.app("x"))
        login1.isMute = true

        async let refusal = plain.startError()
        try await login1.asked.next()
        async let leave = configured.startError()
        try await lab.settle(configured.connection)
        await lab.clock.advance(by: .seconds(2))

        #expect(await refusal?.message.contains("no rule for system uid") == true)
        #expect(await leave == nil)
        #expect(login1.asked.count == 0, "one question serves all that come while it is under way")
        login1.isMute = false
        #expect(await plain.startError() == nil)
    }

    @Test("a Start that joins another one is as good as its answer, also when the first one has given up")
    @ServiceActor
    func joinedStart() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        agent.behaviour = .hangs
        let app = try await lab.app()

        async let first = app.startError()
        await agent.questions(1)
        await lab.clock.advance(by: .seconds(10))
        async let second = app.startError()
        try await lab.settle(app.connection)
        await lab.clock.advance(by: .seconds(12))
        let impatient = await first
        agent.answer(true)

        #expect(impatient?.message.contains("already pending") == true)
        #expect(await second == nil)
        #expect(try await app.isActive)
    }

    @Test("answers are remembered over the agent's death and the service's, and forgotten when that is asked for")
    @ServiceActor
    func remembered() async throws {
        let clock = ManualClock()
        let folder = TemporaryFolder()
        let bus = try await PrivateBus()
        func lab() async throws -> Lab {
            try await Lab(
                Lab.policy(.ask), store: SQLiteRecordStore(in: StateDirectory(folder.path), clock: clock),
                bus: try await PrivateBus())
        }
        _ = bus
        let before = try await lab()
        let agent = try await before.agent()
        try await before.app("a").start()
        agent.behaviour = .refuses
        let refused = await (try before.app("b")).startError()
        await before.store.finish()

        let after = try await lab()
        let newAgent = try await after.agent()
        let (a, b) = (try await after.app("a"), try await after.app("b"))
        let again = (await a.startError(), await b.startError()?.name.string)
        let askedBefore = newAgent.asked
        try await after.administrator().remove("claimed:a")
        try await a.stop()
        try await a.start()

        #expect(refused?.message.contains("Agent rejected 'b'") == true)
        #expect(again.0 == nil)
        #expect(again.1 == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(askedBefore.isEmpty)
        #expect(newAgent.asked == ["a"])
    }

    @Test("a record's limit, and a low request, cannot power a receiver up where something coarser is there")
    @ServiceActor
    func lowLevel() async throws {
        var ip: ScriptedSource!
        let lab = try await Lab(others: { clock in
            ip = ScriptedSource("ip", kind: .ip, level: .city, clock: clock)
            return [ip]
        })
        try await lab.administrator().set(
            "claimed:capped", ["decision": .string("allow"), "level": .uint32(AccuracyLevel.city.rawValue)])
        let capped = try await lab.app("capped", level: .exact)
        let modest = try await lab.app("modest", level: .city)

        try await capped.start()
        try await modest.start()
        await ip.demanded()
        ip.send(48.137, 11.575, accuracy: 25_000)

        let first = try await capped.nextPlace()
        #expect(try await modest.nextPlace() == first)
        #expect(!lab.receiver.isRunning)
        #expect(lab.receiver.starts == 0)
    }

    @Test("two users with the same application are apart in records, agents and lists")
    @ServiceActor
    func twoUsers() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let (first, second) = (try await lab.agent(of: 1), try await lab.agent(of: 2))
        second.behaviour = .refuses

        let allowed = await (try lab.app(of: 1)).startError()
        let refused = await (try lab.app(of: 2)).startError()
        let other = try lab.administrator(of: 2)
        let forbidden = await other.error {
            try await other.set("claimed:\(Self.maps)", ["decision": .string("deny"), "uid": .uint32(1)])
        }
        let peeking = await other.error { _ = try await other.list(["uid": .uint32(1)]) }

        #expect(allowed == nil)
        #expect(refused?.name == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(first.asked == [Self.maps] && second.asked == [Self.maps])
        #expect(forbidden?.name == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(peeking?.name == "org.freedesktop.DBus.Error.AccessDenied")
        let app = ["app": Value.string("claimed:\(Self.maps)")]
        #expect(try await other.list().allSatisfy { $0["uid"] == .uint32(2) })
        #expect(try await other.list(app).map { $0["decision"] } == [.string("deny")])
        #expect(try await lab.administrator(of: 1).list(app).map { $0["decision"] } == [.string("allow")])
        #expect(try await lab.administrator(of: 0).list(app).map { $0["uid"] } == [.uint32(1), .uint32(2)])
    }
}
