import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import Testing

@testable import Authorization

/// Full, read-only, locked, damaged: said clearly, and nobody is let in by it.
@Suite(.timeLimit(.minutes(1))) struct StoreFaultTests {
    init() { EventLoop.startThread() }

    private static let allowed = Vault.record()
    private static let refused = Vault.record("claimed:tracker", .deny)

    @ServiceActor
    private func filled() async -> Vault {
        let vault = Vault()
        await vault.fill([Self.allowed, Self.refused])
        return vault
    }

    /// What an application with no record of its own gets from an authorizer over `store`.
    @ServiceActor
    private func verdict(_ store: SQLiteRecordStore, _ application: ApplicationIdentity) -> Decision.Verdict {
        let authorizer = Authorizer(policy: AccessPolicy(), store: store, clock: ManualClock())
        let requester = Requester(userID: 1000, application: application, isPortal: false, hasSession: true)
        return authorizer.explain(requester, requesting: .exact).verdict
    }

    @Test(
        "a damaged file is set aside and allows nothing; what is decided afterwards is kept in a new one",
        arguments: ["", "SQLite format 3\0", Sample(String(repeating: "no database at all ", count: 1000))] as [Sample])
    @ServiceActor
    func damaged(content: Sample) async throws {
        let vault = await filled()
        try Data(content.text.utf8).write(to: vault.file)

        let store = vault.open()
        store.store(Vault.record("claimed:new"))
        let fault = await store.settled()

        #expect(store.isIncomplete)
        #expect(fault == nil)
        #expect(vault.open().book.records().map(\.key) == ["claimed:new"])
        #expect(
            try Data(contentsOf: vault.folder.appending(path: "authorizations.db.damaged")) == Data(content.text.utf8))
    }

    @Test("whoever was refused is not let in because the refusal was lost, until the user says so")
    @ServiceActor
    func lostRefusal() async throws {
        let vault = await filled()
        let tracker = ApplicationIdentity(trust: .claimed, id: "tracker")
        let before = verdict(vault.open(), tracker)
        try Data("damage".utf8).write(to: vault.file)

        let lost = verdict(vault.open(), tracker)
        // The damaged file lies there, so that the next start knows, too.
        let store = vault.open()
        let afterwards = verdict(store, tracker)
        store.store(Vault.record(AuthorizationRecord.userSwitch))
        let confirmed = verdict(store, tracker)

        #expect(before == .denied(.refusedByRecord(.init(application: tracker, userID: 1000))))
        #expect(lost == .ask(level: .exact, otherwise: nil))
        #expect(afterwards == lost)
        #expect(store.isIncomplete)
        guard case .granted = confirmed else { return #expect(Bool(false), "\(confirmed)") }
    }

    @Test("any cut makes the file damaged or leaves what was decided; never is more allowed than was")
    @ServiceActor
    func cut() async throws {
        let vault = await filled()
        let whole = try Data(contentsOf: vault.file)
        for length in stride(from: 0, to: whole.count, by: 509) {
            let other = Vault()
            try FileManager.default.createDirectory(at: other.folder, withIntermediateDirectories: true)
            try whole.prefix(length).write(to: other.file)

            let store = other.open()

            let found = Set(store.book.records())
            #expect(store.isIncomplete ? found.isEmpty : found == [Self.allowed, Self.refused], "\(length) bytes")
        }
    }

    @Test("bytes that have changed never allow what was not allowed, and never end the service", arguments: 0..<40)
    @ServiceActor
    func flipped(seed: Int) async throws {
        let vault = await filled()
        var bytes = try Data(contentsOf: vault.file)
        // Knuth's generator of 64 bits: the same bytes each time.
        var random = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        for _ in 0..<24 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int(random >> 33) % bytes.count] = UInt8(truncatingIfNeeded: random >> 20)
        }
        try bytes.write(to: vault.file)

        let store = vault.open()

        let allowed = store.book.records().filter { $0.decision == .allow }
        #expect(allowed.isEmpty || allowed.map(\.key) == [Self.allowed.key])
        store.store(Vault.record("claimed:new", .deny))
        _ = await store.settled()
        #expect(store.book.record(of: 1000, for: "claimed:new") != nil)
    }

    @Test("a row that makes no sense is a refusal")
    @ServiceActor
    func nonsense() async throws {
        let vault = await filled()
        try vault.change("UPDATE records SET level = 3 WHERE decision = 'allow'")

        let store = vault.open()

        #expect(store.book.record(of: 1000, for: Self.allowed.key)?.decision == .deny)
        #expect(store.book.record(of: 1000, for: Self.refused.key) == Self.refused)
    }

    @Test(
        "a row that does not say whose it is may have been anybody's refusal",
        arguments: ["user = -1", "user = 'x'", "key = x'00'"])
    @ServiceActor
    func nobodys(change: String) async throws {
        let vault = await filled()
        try vault.change("UPDATE records SET \(change) WHERE decision = 'deny'")

        let store = vault.open()

        #expect(store.isIncomplete)
        #expect(store.book.records() == [Self.allowed])
        let tracker = ApplicationIdentity(trust: .claimed, id: "tracker")
        #expect(verdict(store, tracker) == .ask(level: .exact, otherwise: nil))
    }

    @Test("another program's database is not taken for ours")
    @ServiceActor
    func foreign() async throws {
        let vault = Vault()
        try FileManager.default.createDirectory(at: vault.folder, withIntermediateDirectories: true)
        do {
            let database = try Database(vault.file.path, .create, patience: 0)
            try database.execute("CREATE TABLE records (user, key, decision)")
        }

        #expect(vault.open().isIncomplete)
    }

    @Test("a file of a newer version is left as it is, and allows nothing")
    @ServiceActor
    func newer() async throws {
        let vault = await filled()
        try vault.change("PRAGMA user_version = 99")
        let before = try Data(contentsOf: vault.file)

        let store = vault.open()
        store.store(Vault.record("claimed:new"))
        let fault = await store.settled()

        #expect(store.isIncomplete)
        #expect(fault?.reason == .newer)
        #expect(try Data(contentsOf: vault.file) == before)
    }

    @Test("a locked file cannot be read, which allows nothing, nor written, which is said")
    @ServiceActor
    func locked() async throws {
        let vault = await filled()
        var other: Database? = try vault.database()
        try other?.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")

        let store = vault.open()
        store.store(Vault.record("claimed:new", .deny))
        let fault = await store.settled()
        other = nil
        store.store(Vault.record("claimed:newer", .deny))
        let later = await store.settled()

        #expect(store.isIncomplete)
        #expect(fault?.reason == .locked)
        #expect(later == nil)
        #expect(
            vault.open().book.records().map(\.key) == [
                "claimed:new", "claimed:newer", "claimed:tracker", "flatpak:org.example.Maps",
            ])
    }

    @Test(
        "where nothing can be written, a decision holds until the service stops, and that is said",
        arguments: [
            ("PRAGMA max_page_count = 1", StoreFault.Reason.full), ("PRAGMA query_only = ON", .readOnly),
        ])
    @ServiceActor
    func unwritable(settings: String, reason: StoreFault.Reason) async {
        let vault = await filled()
        let store = vault.open(settings: settings)

        for number in 0..<200 { store.store(Vault.record("claimed:org.example.new\(number)")) }
        let fault = await store.settled()
        store.remove(Self.allowed.key, of: 1000)
        let second = await store.settled()

        #expect(fault?.reason == reason)
        #expect(second?.reason == reason)
        #expect(store.book.records().count == 201)
        // Some of them may have found room before it was full.
        let kept = Set(vault.open().book.records())
        #expect(kept.isSuperset(of: [Self.allowed, Self.refused]))
        #expect(kept.count < 100)
    }

    @Test("leave for once is given once, whatever may be written when and however often the service is started anew")
    @ServiceActor
    func once() async throws {
        let vault = Vault()
        var leave = Vault.record("flatpak:once")
        leave.lifetime = .once
        leave.changed = Timestamp(microseconds: vault.clock.wallTime)
        await vault.fill([leave])
        let application = ApplicationIdentity(trust: .flatpak, id: "once")
        func isGiven(_ store: SQLiteRecordStore, after change: AuthorizationRecord? = nil) async -> Bool {
            let authorizer = Authorizer(policy: AccessPolicy(), store: store, clock: vault.clock)
            if let change { await authorizer.setRecord(change) }
            let requester = Requester(userID: 1000, application: application, isPortal: false, hasSession: true)
            if case .success = await authorizer.authorize(requester, requesting: .exact) { return true }
            return false
        }

        let unwritable = [await isGiven(vault.open(settings: "PRAGMA query_only = ON"))]
        let inMemory = await isGiven(vault.open(settings: "PRAGMA query_only = ON"), after: leave)
        let writable = [await isGiven(vault.open()), await isGiven(vault.open())]

        #expect(unwritable == [false])
        #expect(inMemory, "it was set anew, for as long as the service runs")
        #expect(writable == [true, false])
    }

    @Test("what could not be written is written as soon as it can be, all of it, as it is by then")
    @ServiceActor
    func recovery() async throws {
        let vault = Vault()
        try Data().write(to: vault.folder)
        let store = vault.open()
        store.store(Vault.record("claimed:first"))
        store.store(Vault.record("claimed:second"))
        let fault = await store.settled()
        store.remove("claimed:second", of: 1000)
        _ = await store.settled()

        try FileManager.default.removeItem(at: vault.folder)
        store.store(Vault.record("claimed:third"))
        let later = await store.settled()

        #expect(fault?.reason == .inaccessible)
        #expect(later == nil)
        #expect(!store.isIncomplete)
        #expect(vault.open().book.records().map(\.key) == ["claimed:first", "claimed:third"])
    }

    /// Changes more than is kept in memory of what cannot be written.
    ///
    /// - Returns: whether something has been left out.
    @ServiceActor
    private func fillUp(_ store: SQLiteRecordStore) -> Bool {
        for number in 0...SQLiteRecordStore.maximumUnwritten / 2 {
            store.store(Vault.record("claimed:\(number)"))
            store.remove("claimed:\(number)", of: 1000)
        }
        return store.isBehind
    }

    /// Waits until everything has been written, and closes the file.
    @ServiceActor
    private func recover(_ store: SQLiteRecordStore) async {
        while await store.settled() != nil { await Task.yield() }
        await store.finish()
    }

    @Test("a disk that stays full does not fill the memory: what is too much is left out until all can be written")
    @ServiceActor
    func overflow() async throws {
        let vault = Vault()
        try Data().write(to: vault.folder)
        let store = vault.open()
        let day = AccessHistory.Day(of: Timestamp(microseconds: vault.clock.wallTime))
        store.store(Vault.record("claimed:gone"))
        let fault = await store.settled()

        let isBehind = fillUp(store)
        store.store(Self.allowed)
        store.remove("claimed:gone", of: 1000)
        store.note(AccessUse(userID: 1000, key: Self.allowed.key, level: .city, day: day))
        let second = await store.settled()
        try FileManager.default.removeItem(at: vault.folder)
        store.store(Self.refused)
        await recover(store)

        #expect(isBehind && fault?.reason == .inaccessible && second == fault)
        #expect(!store.isBehind)
        #expect(vault.open().book.records() == [Self.refused, Self.allowed])
        #expect(vault.open().history == store.history)
    }

    @Test("what was removed while nothing could be written stays removed, beside rows that do not say whose they are")
    @ServiceActor
    func removedWhileBehind() async throws {
        let vault = await filled()
        try vault.change("UPDATE records SET user = -1 WHERE decision = 'deny'")
        let store = vault.open()
        let other = try vault.database()
        try other.execute("BEGIN IMMEDIATE")
        store.store(Vault.record("claimed:locked"))
        let fault = await store.settled()

        let isBehind = fillUp(store)
        store.remove(Self.allowed.key, of: 1000)
        try other.execute("ROLLBACK")
        store.store(Vault.record("claimed:late"))
        await recover(store)

        let next = vault.open()
        #expect(isBehind && fault?.reason == .locked && next.isIncomplete)
        #expect(next.book.records().map(\.key) == ["claimed:late", "claimed:locked"])
    }

    @Test("what could not be read at the start is not taken away by what could not be written later")
    @ServiceActor
    func unreadWhileBehind() async throws {
        let vault = await filled()
        var other: Database? = try vault.database()
        // Keeps readers out, too, until it is closed.
        try other?.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK")
        let store = vault.open()
        store.store(Vault.record("claimed:locked"))
        let fault = await store.settled()

        let isBehind = fillUp(store)
        other = nil
        store.store(Vault.record("claimed:late"))
        await recover(store)

        #expect(isBehind && store.isIncomplete && fault?.reason == .locked)
        #expect(vault.open().book.record(of: 1000, for: Self.refused.key) == Self.refused)
        #expect(vault.open().book.record(of: 1000, for: "claimed:locked") != nil)
    }

    @Test("uses that make no sense go with what is forgotten of their application")
    @ServiceActor
    func oddUses() async throws {
        let vault = await filled()
        try vault.change("INSERT INTO uses VALUES (1000, '\(Self.allowed.key)', 20000, -1, 7)")
        let store = vault.open()
        store.forgetUses(of: Self.allowed.key, of: 1000)
        await store.finish()

        var count: Int64?
        try vault.database().query("SELECT count(*) FROM uses") {
            count = $0.integer(0)
        }
        #expect(count == 0)
    }

    // MARK: Versions

    @Test("a file of an older version keeps its records on the way to the newer one")
    @ServiceActor
    func migration() async throws {
        let vault = await filled()
        let next = Schema(
            steps: Schema.current.steps + ["ALTER TABLE uses ADD COLUMN more TEXT; CREATE TABLE extra (x)"])

        let store = vault.open(schema: next)
        let version = try vault.database().number("user_version")

        #expect(!store.isIncomplete)
        #expect(Set(store.book.records()) == [Self.allowed, Self.refused])
        #expect(version == Int64(next.steps.count))
        #expect(vault.open().isIncomplete, "the older version leaves it alone")
    }

    @Test("a step that fails leaves the file in the version that it had")
    @ServiceActor
    func failedMigration() async throws {
        let vault = await filled()
        let broken = Schema(steps: Schema.current.steps + ["CREATE TABLE extra (x); CREATE TABLE records (y)"])

        let store = vault.open(schema: broken)

        #expect(store.isIncomplete)
        #expect(try vault.database().number("user_version") == 1)
        #expect(Set(vault.open().book.records()) == [Self.allowed, Self.refused])
    }
}
