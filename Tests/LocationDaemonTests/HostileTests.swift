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
    private final class Liar<Answer: DBusType>: BusObject {
        private let rows: Interface<Liar>
        private let connection: Connection

        init(_ connection: Connection, answer: Answer, ceiling: some PropertyType) {
            self.connection = connection
            rows = Interface(GeoClueNames.agent) {
                Method("AuthorizeApp", "id", "level", returns: "answer", access: .anyone) { (_: Liar) in
                    { (_: MethodCall, _: String, _: UInt32) in answer }
                }
                Property("MaxAccuracyLevel", access: .anyone) { _ in ceiling }
            }
            connection.objects.add(self, at: GeoClueNames.agentPath)
        }

        var interfaces: [any ServedInterface] { [Bound(rows, to: self)] }

        func register() async throws {
            let message = Message.methodCall(
                to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "AddAgent")
            try message.append("shell")
            _ = try await connection.call(message)
        }
    }

    @Test("answers and ceilings of wrong types let nobody in and limit nobody")
    @ServiceActor
    func wrongTypes() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let liar = Liar(try lab.connect(), answer: "yes", ceiling: "none at all")
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
        let liar = Liar(try lab.connect(), answer: true, ceiling: UInt32(4_000_000_000))
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
