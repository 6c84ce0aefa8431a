import Authorization
import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// Agents that lie, hang and crash, and applications without end.
@Suite(.timeLimit(.minutes(1))) struct HostileTests {
    init() { EventLoop.startThread() }

    /// An agent whose answers have whatever types a test gives them.
    @ServiceActor
    private final class Liar: BusObject {
        private let rows: Interface<Liar>
        private let connection: Connection

        /// - Parameter authorizeApp: how it answers.
        init(_ connection: Connection, ceiling: some PropertyType, _ authorizeApp: Method<Liar> = Liar.says("yes")) {
            self.connection = connection
            rows = Interface(GeoClueNames.agent) {
                authorizeApp
                Property("MaxAccuracyLevel", access: .anyone) { _ in ceiling }
            }
            connection.objects.add(self, at: GeoClueNames.agentPath)
        }

        var interfaces: [any ServedInterface] { [Bound(rows, to: self)] }

        static nonisolated func says(_ answer: some DBusType) -> Method<Liar> {
            Method("AuthorizeApp", "id", "level", returns: "answer", access: .anyone) { (_: Liar) in
                { (_: MethodCall, _: String, _: UInt32) in answer }
            }
        }

        /// A good answer, and something behind it.
        static nonisolated var saysMore: Method<Liar> {
            Method("AuthorizeApp", "id", "level", returns: "allowed", "level", "more", access: .anyone) { (_: Liar) in
                { (_: MethodCall, _: String, _: UInt32) in (true, UInt32(8), true) }
            }
        }

        func register() async throws {
            let message = Message.methodCall(
                to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "AddAgent")
            try message.append("shell")
            _ = try await connection.call(message)
        }
    }

    @Test("answers and ceilings of wrong types let nobody in and limit nobody", arguments: [false, true])
    @ServiceActor
    func wrongTypes(saysMore: Bool) async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let liar = Liar(try lab.connect(), ceiling: "none at all", saysMore ? Liar.saysMore : Liar.says("yes"))
        try await liar.register()

        let refusal = await (try lab.app()).startError()

        #expect(refusal?.message.contains("the agent failed to answer") == true)
        #expect(lab.authorizer.records(of: 1000).map(\.decision) == [.ask])
    }

    @Test("an answer grants at most what was asked, whatever number it gives", arguments: [9, 99, 4_000_000_000])
    @ServiceActor
    func hugeLevel(level: UInt32) async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        agent.behaviour = .allows(level)

        try await lab.app(level: .city).start()

        let record = lab.authorizer.records(of: 1000).first { $0.isOfApplication }
        #expect(record?.level == .city)
    }

    @Test("a ceiling of 4 000 000 000 is no limit, and one of 0 is the end of it")
    @ServiceActor
    func hugeCeiling() async throws {
        let lab = try await Lab()
        let liar = Liar(try lab.connect(), ceiling: UInt32(4_000_000_000))
        try await liar.register()

        #expect(await (try lab.app()).startError() == nil)
    }

    @Test("while an agent hangs nobody else waits: other users, decided applications, new clients")
    @ServiceActor
    func hanging() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        agent.behaviour = .hangs
        try await lab.administrator().set("claimed:decided", "allow")
        let stuck = try await lab.app("stuck")

        async let outcome = stuck.startError()
        await agent.questions(1)
        let decided = await (try lab.app("decided")).startError()
        _ = try await lab.agent(of: 2)
        let other = await (try lab.app("stuck", of: 2)).startError()
        await lab.clock.advance(by: Authorizer.callLimit)

        #expect(decided == nil)
        #expect(other == nil)
        #expect(await outcome?.message.contains("already pending") == true)
        await lab.clock.advance(by: .seconds(120))
        #expect(lab.authorizer.openQuestions == 0)
    }

    @Test("an agent that leaves eight questions unanswered is given no more, until it answers one")
    @ServiceActor
    func unanswered() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        agent.behaviour = .hangs
        let app = try await lab.app("a")

        for number in 1...AgentProxy.withdrawnLimit {
            async let refusal = app.startError()
            await agent.questions(number)
            await lab.clock.advance(by: .seconds(120))
            #expect(await refusal?.message.contains("already pending") == true)
        }
        let refusal = await app.startError()
        let asked = agent.asked.count
        agent.answer(false)
        try await agent.connection.settle()
        try await lab.settle(app.connection)
        agent.behaviour = .allows(8)

        #expect(refusal?.message.contains("the agent failed to answer") == true)
        #expect(asked == AgentProxy.withdrawnLimit)
        #expect(await app.startError() == nil)
        #expect(agent.asked.count == asked + 1)
    }

    @Test("an agent that registers without end and never says its ceiling leaves the bus's replies to others")
    @ServiceActor
    func endlessRegistration() async throws {
        // What the stock bus allows.
        let limits = BusConfiguration.generousLimits.merging(["max_replies_per_connection": 128]) { $1 }
        let lab = try await Lab(Lab.policy(.ask), bus: try await PrivateBus(BusConfiguration(limits: limits)))
        let mute = try lab.connect(1)
        mute.objects.add(
            .init(
                object: { _, _ in nil },
                cover: { _ in .init(object: nil, standIn: Silence()) { _ in await Silence.forEver() } },
                children: { _, _ in [] }), below: "/org/freedesktop/GeoClue2")
        for _ in 0..<300 {
            let message = Message.methodCall(
                to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "AddAgent")
            try message.append("shell")
            _ = try await mute.call(message)
        }

        _ = try await lab.agent(of: 2)
        let app = try await lab.app(of: 2)

        #expect(await app.startError() == nil)
    }

    @Test("agents that answer none of many questions leave others their replies, and all their limits")
    @ServiceActor
    func silentAgents() async throws {
        // What the stock bus allows.
        let limits = BusConfiguration.generousLimits.merging(["max_replies_per_connection": 128]) { $1 }
        let lab = try await Lab(Lab.policy(.ask), bus: try await PrivateBus(BusConfiguration(limits: limits)))
        try await keepBusy(lab, 1)
        _ = try await lab.agent(of: 2)
        #expect(await (try lab.app(of: 2)).startError() == nil)

        try await keepBusy(lab, 3)
        try await keepBusy(lab, 4)
        _ = try await lab.agent(of: 5, ceiling: .none)
        #expect(await (try lab.app(of: 5)).startError()?.message.contains("switched off in the settings") == true)
    }

    /// Has agents of `user` asked as much as can be, who never answer.
    @ServiceActor
    private func keepBusy(_ lab: Lab, _ user: UInt32) async throws {
        for name in ["shell", "other"] { try await lab.agent(name, of: user).behaviour = .hangs }
        let connection = try lab.connect(user)
        for round in 0..<3 {
            var apps: [App] = []
            for number in 0..<64 { apps.append(try await lab.app("app\(round)-\(number)", of: user)) }
            let tally = Tally()
            for app in apps {
                Task.immediate { @ServiceActor in tally.count(await app.startError()?.name.string ?? "allowed") }
            }
            while tally.total < 64 {
                try await lab.settle(connection)
                if tally.total + lab.authorizer.openQuestions == 64 { await lab.clock.advance(by: .seconds(120)) }
            }
            #expect(tally.outcomes == ["org.freedesktop.DBus.Error.AccessDenied": 64])
        }
    }

    /// Nothing, at a path that never says so.
    private final class Silence: BusObject {
        var interfaces: [any ServedInterface] { [] }

        /// How many wait.
        @ServiceActor private static var waiting = 0

        @ServiceActor static func forEver() async -> Bool {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in waiting += 1 }
            return false
        }
    }

    @Test("an agent that changes its mind a thousand times in a moment costs its clients one change")
    @ServiceActor
    func fickle() async throws {
        let lab = try await Lab()
        let app = try await lab.app()
        try await app.start()
        await lab.receiver.demanded()
        lab.receiver.send(48.1, 11.5)
        _ = try await app.nextPlace()
        let agent = SilentAgent()
        try lab.authorizer.agentRegistered(agent, from: .unnamed)

        try await lab.settle(app.connection)
        func changes() -> Int { app.heard.filter { $0.member == "PropertiesChanged" && $0.path == app.path }.count }
        let before = changes()

        for _ in 0..<500 {
            lab.authorizer.ceilingChanged(of: agent, to: .exact)
            lab.authorizer.ceilingChanged(of: agent, to: .none)
        }
        try await app.becomes(active: false)
        try await lab.settle(app.connection)

        #expect(changes() == before + 1)
        #expect(app.updateCount == 1)
        #expect(try await app.isActive == false)
    }

    @Test("an agent that dies with a question leaves it to the next one; without a next one the caller hears of it")
    @ServiceActor
    func dying() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let first = try await lab.agent()
        first.behaviour = .hangs
        let second = try await lab.agent("other")
        let app = try await lab.app()

        async let outcome = app.startError()
        await first.questions(1)
        first.leave()

        #expect(await outcome == nil)
        #expect(second.asked == ["org.example.Maps"])
        second.behaviour = .hangs
        async let alone = (try lab.app("b")).startError()
        await second.questions(2)
        second.leave()
        while lab.authorizer.openQuestions > 0 { await lab.clock.advance(by: .seconds(1)) }
        #expect(try await alone?.name == "org.freedesktop.DBus.Error.AccessDenied")
    }

    /// How many calls ended in which way.
    @ServiceActor
    private final class Tally {
        private(set) var outcomes: [String: Int] = [:]

        var total: Int { outcomes.values.reduce(0, +) }

        func count(_ outcome: String) { outcomes[outcome, default: 0] += 1 }
    }

    @Test("a thousand applications that ask at once are asked about up to the limit, and the rest is refused at once")
    @ServiceActor
    func thousand() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()
        agent.behaviour = .hangs
        let connection = try lab.connect()
        var clients: [ObjectPath] = []
        for number in 0..<1000 {
            let path = try await connection.call(
                GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "CreateClient",
                returning: ObjectPath.self)
            let setting = Message.methodCall(
                to: GeoClueNames.busName, path, "org.freedesktop.DBus.Properties", "Set")
            try setting.append(GeoClueNames.client.string, "DesktopId", Variant(.string("app\(number)")))
            _ = try await connection.call(setting)
            clients.append(path)
        }
        let tally = Tally()
        for path in clients {
            Task.immediate { @ServiceActor in
                let start = Message.methodCall(to: GeoClueNames.busName, path, GeoClueNames.client, "Start")
                do {
                    _ = try await connection.call(start, timeout: nil)
                    tally.count("allowed")
                } catch { tally.count((error as? BusError)?.name.string ?? "\(error)") }
            }
        }
        while tally.total < 936 { try await lab.settle(connection) }
        let early = tally.outcomes
        await lab.clock.advance(by: Authorizer.callLimit)
        while tally.total < 1000 { try await lab.settle(connection) }

        #expect(early == ["org.freedesktop.DBus.Error.LimitsExceeded": 936])
        #expect(agent.asked.count == 64)
        #expect(
            tally.outcomes == [
                "org.freedesktop.DBus.Error.LimitsExceeded": 936, "org.freedesktop.DBus.Error.AccessDenied": 64,
            ])
        #expect(lab.authorizer.records(of: 1000).count <= RecordBook.maximumUndecided + 1)
    }
}
