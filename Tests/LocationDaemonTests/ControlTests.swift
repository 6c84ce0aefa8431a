import Authorization
import DBus
import DBusTestSupport
import EventLoop
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// What users and administrators see and change.
@Suite(.timeLimit(.minutes(1))) struct ControlTests {
    init() { EventLoop.startThread() }

    private static let key = "flatpak:org.example.Maps"
    private static let invalid = "org.freedesktop.DBus.Error.InvalidArgs"
    private static let denied = "org.freedesktop.DBus.Error.AccessDenied"

    // MARK: Records

    @Test("what is set is listed, with everything that is known of it")
    @ServiceActor
    func list() async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()
        let now = UInt64(lab.clock.wallTime)

        try await administrator.set(
            Self.key,
            [
                "decision": .string("allow"), "level": .uint32(6), "type": .string("always"),
                "lifetime": .string("until"), "expires": .uint64(now + 1),
            ])

        #expect(
            try await administrator.list() == [
                [
                    "app": .string(Self.key), "uid": .uint32(1000), "trust": .string("flatpak"),
                    "decision": .string("allow"), "level": .uint32(6), "type": .string("always"),
                    "lifetime": .string("until"), "expires": .uint64(now + 1), "decided-by": .string("user:1000"),
                    "created": .uint64(now), "changed": .uint64(now),
                ]
            ])
    }

    @Test("leave for use in the foreground alone is refused as long as nothing holds anybody to it")
    @ServiceActor
    func whenInUse() async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()

        let error = await administrator.error {
            try await administrator.set(
                Self.key, ["decision": .string("allow"), "type": .string("when-in-use")])
        }

        #expect(error?.name.string == Self.invalid)
        #expect(error?.message.contains("type") == true)
        #expect(try await administrator.list().isEmpty)
    }

    @Test("what is not given stays as it was; another decision begins anew")
    @ServiceActor
    func partial() async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()
        func found(_ key: String) async throws -> [Value?] {
            let record = try await administrator.list(["app": .string(key)]).first
            return [record?["decision"], record?["level"], record?["lifetime"]]
        }
        func values(_ decision: String, _ level: UInt32, _ lifetime: String) -> [Value?] {
            [.string(decision), .uint32(level), .string(lifetime)]
        }

        try await administrator.set(Self.key, ["decision": .string("allow"), "level": .uint32(4)])
        #expect(try await found(Self.key) == values("allow", 4, "forever"))
        try await administrator.set(Self.key, ["lifetime": .string("session")])
        #expect(try await found(Self.key) == values("allow", 4, "session"))
        try await administrator.set(Self.key, "deny")
        #expect(try await found(Self.key) == values("deny", 0, "forever"))
        try await administrator.set(Self.key, "allow")
        #expect(try await found(Self.key) == values("allow", 8, "forever"))
        try await administrator.set("host:org.example.Maps", "allow")
        #expect(try await found("host:org.example.Maps") == values("allow", 8, "session"))
        try await administrator.set("*", ["level": .uint32(4)])
        #expect(try await found("*") == values("allow", 4, "forever"))
    }

    @Test(
        "any numeric type that fits is taken",
        arguments: [
            Value.byte(4), .int16(4), .uint16(4), .int32(4), .uint32(4), .int64(4), .uint64(4), .double(4),
        ])
    @ServiceActor
    func numbers(level: Value) async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()

        try await administrator.set(Self.key, ["decision": .string("allow"), "level": level])

        #expect(try await administrator.list().first?["level"] == .uint32(4))
    }

    @Test(
        "unknown keys, wrong types and impossible values are named and change nothing",
        arguments: [
            ("colour", ["decision": .string("allow"), "colour": .string("red")]),
            ("decision", ["decision": .uint32(1)]),
            ("decision", ["decision": .string("maybe")]), ("decision", ["level": .uint32(4)]), ("decision", [:]),
            ("level", ["decision": .string("allow"), "level": .string("4")]),
            ("level", ["decision": .string("allow"), "level": .uint32(4_000_000_000)]),
            ("level", ["decision": .string("allow"), "level": .int32(-1)]),
            ("level", ["decision": .string("allow"), "level": .double(.nan)]),
            ("lifetime", ["decision": .string("allow"), "lifetime": .string("a while")]),
            ("expires", ["decision": .string("allow"), "lifetime": .string("until")]),
            ("expires", ["decision": .string("allow"), "expires": .uint64(5)]),
            ("expires", ["decision": .string("allow"), "expires": .uint64(.max)]),
            ("expires", ["decision": .string("allow"), "expires": .int64(.max), "lifetime": .string("once")]),
            ("type", ["decision": .string("allow"), "type": .string("never")]),
            ("decided-by", ["decision": .string("allow"), "decided-by": .string("user:0")]),
            ("uid", ["decision": .string("allow"), "uid": .int32(-1)]),
        ] as [(String, [String: Value])])
    @ServiceActor
    func badValues(key: String, record: [String: Value]) async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()

        let error = await administrator.error { try await administrator.set(Self.key, record) }

        #expect(error?.name.string == Self.invalid)
        #expect(error?.message.contains("“\(key)”") == true, "\(error?.message ?? "")")
        #expect(try await administrator.list().isEmpty)
    }

    @Test(
        "what names no application cannot be decided about",
        arguments: [
            "", "org.example.Maps", "flatpak:", "other:org.example.Maps", "agent:shell", "host:a/b",
            "claimed:a\u{202E}b", "claimed:a\nb", Sample("claimed:" + String(repeating: "x", count: 256)), "**",
        ] as [Sample])
    @ServiceActor
    func badKeys(key: Sample) async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()

        let error = await administrator.error { try await administrator.set(key.text, "allow") }

        #expect(error?.name.string == Self.invalid)
        #expect(try await administrator.list().isEmpty)
    }

    @Test("a decision or a history can be forgotten alone, an agent's ceiling too, and what is not there as well")
    @ServiceActor
    func remove() async throws {
        let lab = try await Lab()
        let administrator = try lab.administrator()
        let agent = try await lab.agent(ceiling: .city)
        try await lab.settle(agent.connection)
        let app = try await lab.app(nil, .flatpak("org.example.Maps"))
        try await administrator.set(Self.key, "allow")
        try await app.start()
        func found() async throws -> [String: Value]? {
            try await administrator.list(["app": .string(Self.key), "history": .bool(true)]).first
        }
        let day = Value.structure([.string("2026-06-01"), .uint32(1), .uint32(4)])

        let before = try await found()
        try await administrator.remove(Self.key, ["only": .string("decision")])
        let undecided = try await found()
        try await administrator.remove(Self.key, ["only": .string("history")])
        let gone = try await found()
        try await administrator.remove(Self.key)
        let ceilings = try await administrator.list()
        try await administrator.remove("agent:shell")

        #expect(before?["history"] == .array(of: Structure<String, UInt32, UInt32>.signature, [day]))
        #expect(before?["last-day"] == .string("2026-06-01"))
        #expect(undecided?["decision"] == .string("ask"))
        #expect(undecided?["history"] == before?["history"])
        #expect(gone == nil)
        #expect(ceilings.map { $0["app"] } == [.string("agent:shell")])
        #expect(try await administrator.list().isEmpty)
        let error = await administrator.error { try await administrator.remove(Self.key, ["only": .string("all")]) }
        #expect(error?.name.string == Self.invalid)
    }

    @Test("an application that was let in without a record is listed with its last day; others see no days")
    @ServiceActor
    func uses() async throws {
        let lab = try await Lab()
        try await lab.app().start()

        let own = try await lab.administrator().list()
        let roots = try await lab.administrator(of: 0).list(["history": .bool(true), "uid": .uint32(1000)])

        #expect(own.map { $0["app"] } == [.string("claimed:org.example.Maps")])
        #expect(own.map { $0["last-day"] } == [.string("2026-06-01")])
        #expect(roots.isEmpty)
    }

    @Test("a decision that cannot be kept takes effect, and its caller hears that it will not last")
    @ServiceActor
    func notKept() async throws {
        let folder = TemporaryFolder()
        try "in the way".write(toFile: folder.path, atomically: true, encoding: .utf8)
        let lab = try await Lab(store: SQLiteRecordStore(in: StateDirectory(folder.path), clock: ManualClock()))
        let administrator = try lab.administrator()

        let error = await administrator.error { try await administrator.set("claimed:org.example.Maps", "deny") }

        #expect(error?.name == "org.freedesktop.DBus.Error.IOError")
        #expect(error?.message.contains("until the service stops") == true)
        #expect(await (try lab.app()).startError()?.name.string == Self.denied)
    }

    @Test("one user's records are limited")
    @ServiceActor
    func limit() async throws {
        let lab = try await Lab()
        for number in 0..<RecordBook.maximumDecided {
            lab.store.store(
                AuthorizationRecord(
                    userID: 1000, key: "claimed:\(number)", decision: .deny, author: .user(1000),
                    created: Timestamp(seconds: 1)))
        }
        let administrator = try lab.administrator()

        let error = await administrator.error { try await administrator.set(Self.key, "allow") }

        #expect(error?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        try await administrator.set("claimed:0", "allow")
        try await lab.administrator(of: 1001).set(Self.key, "allow")
    }

    // MARK: Callers

    @Test("sandboxed and unknown callers get nothing", arguments: [ProcessFacts.flatpak("org.example.Maps"), .hidden])
    @ServiceActor
    func sandboxed(facts: ProcessFacts) async throws {
        let lab = try await Lab()
        let caller = try lab.administrator(facts)
        var errors: [BusError?] = []

        errors.append(await caller.error { _ = try await caller.list() })
        errors.append(await caller.error { try await caller.set(Self.key, "allow") })
        errors.append(await caller.error { try await caller.remove(Self.key) })
        errors.append(await caller.error { try await caller.subscribe() })

        #expect(errors.allSatisfy { $0?.name.string == Self.denied })
        #expect(lab.authorizer.records(of: nil).isEmpty)
    }

    @Test("other users' records take polkit's leave, by bus name, with a dialog only where the call allows one")
    @ServiceActor
    func polkit() async throws {
        let bus = try await PrivateBus()
        let polkit = try await PolicyKit(bus.connect())
        let lab = try await Lab(bus: bus)
        let caller = try lab.administrator()
        let record: [String: Value] = ["decision": .string("deny"), "uid": .uint32(1)]

        let refused = await caller.error { try await caller.set(Self.key, record) }
        polkit.verdict = .afterDialog
        let needsDialog = await caller.error { try await caller.set(Self.key, record) }
        let before = lab.authorizer.records(of: nil)
        try await caller.set(Self.key, record, interactive: true)
        polkit.verdict = .yes
        let listed = try await caller.list(["uid": .uint32(1)])
        try await caller.remove(Self.key, ["uid": .uint32(1)])
        try await caller.set(Self.key, ["decision": .string("deny"), "uid": .uint32(1000)])

        #expect(refused?.name.string == Self.denied)
        #expect(needsDialog?.name == "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired")
        #expect(before.isEmpty)
        #expect(listed.map { $0["decided-by"] } == [.string("user:1000")])
        #expect(lab.authorizer.records(of: nil).map(\.userID) == [1000])
        #expect(polkit.checks.map(\.flags) == [0, 0, 1, 0, 0])
        let name = Value.string(caller.connection.uniqueName.string)
        #expect(
            polkit.checks.allSatisfy {
                $0.kind == "system-bus-name" && $0.name == name && $0.action == "org.whereabouts1.manage"
            })
    }

    @Test("root needs no polkit, and shows as the one who changed it")
    @ServiceActor
    func root() async throws {
        let lab = try await Lab()
        let root = try lab.administrator(of: 0)

        try await root.set(Self.key, ["decision": .string("deny"), "uid": .uint32(1000)])

        #expect(try await lab.administrator().list().map { $0["decided-by"] } == [.string("user:0")])
        #expect(try await lab.administrator(of: 1).list().isEmpty)
    }

    // MARK: Changes

    @Test("whoever subscribes hears of the own user's changes, whoever makes them, and nobody else does")
    @ServiceActor
    func subscribe() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let subscriber = try lab.administrator()
        let stranger = try lab.administrator(of: 2)
        let unsubscribed = try lab.administrator()
        try await subscriber.subscribe()
        try await stranger.subscribe()
        let overheard = [stranger, unsubscribed].map { Heard($0.connection) }

        try await unsubscribed.set(Self.key, "allow")
        _ = try await lab.agent(ceiling: .city)
        try await lab.app("b").start()
        try await unsubscribed.remove(Self.key)
        try await lab.administrator(of: 2).set("claimed:strangers", "deny")

        var heard: [String] = []
        for _ in 0..<5 { heard.append(try await subscriber.nextChange()) }
        #expect(heard == [Self.key, "agent:shell", "claimed:b", "claimed:b", Self.key])
        #expect(try await stranger.nextChange() == "claimed:strangers")
        try await lab.settle(unsubscribed.connection)
        try await stranger.connection.settle()
        #expect(overheard[0].texts == ["claimed:strangers"])
        #expect(overheard[1].texts.isEmpty)
    }

    /// The keys of every change that reaches a connection.
    @ServiceActor
    private final class Heard {
        private(set) var texts: [String] = []
        private var subscription: Subscription?

        init(_ connection: Connection) {
            let rule = MatchRule(interface: WhereaboutsNames.control, member: "Changed")
            subscription = connection.subscribe(to: rule) { [weak self] message in
                if let (_, key) = try? message.read(as: String.self, String.self) { self?.texts.append(key) }
            }
        }
    }
}
