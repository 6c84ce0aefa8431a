import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import Testing

@testable import Authorization

@Suite(.timeLimit(.minutes(1))) struct SQLiteRecordStoreTests {
    init() { EventLoop.startThread() }

    private static let full = AuthorizationRecord(
        userID: 1000, key: "flatpak:org.example.Maps", decision: .allow, level: .city, askedLevel: .street,
        type: .whenInUse, author: .agent(id: "shell"), lifetime: .until,
        expires: Timestamp(microseconds: 4_000_000_000_000_001),
        reason: "Shows “stops”\nnear you", created: Timestamp(microseconds: 1_700_000_000_000_001),
        changed: Timestamp(microseconds: 1_700_000_000_000_002))

    @Test("what was settled is there afterwards, to the last field")
    @ServiceActor
    func roundTrip() async {
        let vault = Vault()
        let plain = [
            AuthorizationRecord.Author.user(0), .nobody, .agent(id: "other"),
        ].enumerated().map { number, author in
            AuthorizationRecord(
                userID: .max, key: "claimed:\(number)", decision: .ask, author: author,
                created: Timestamp(seconds: Int64(number)))
        }
        let store = vault.open()

        for record in [Self.full] + plain { store.store(record) }
        let fault = await store.settled()

        #expect(fault == nil)
        #expect(vault.open().book.records() == [Self.full] + plain)
        #expect(!vault.open().isIncomplete)
    }

    @Test("nothing is written before something is decided, and then only the service's user can read it")
    @ServiceActor
    func rights() async throws {
        let vault = Vault()
        let store = vault.open()
        let before = try FileManager.default.contentsOfDirectory(atPath: vault.folder.path)

        store.store(Self.full)
        _ = await store.settled()

        #expect(before.isEmpty)
        for path in try [""] + FileManager.default.contentsOfDirectory(atPath: vault.folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: vault.folder.appending(path: path).path)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
            #expect(mode == (path.isEmpty ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test("rights that somebody has widened are taken back with the next decision")
    @ServiceActor
    func widenedRights() async throws {
        let vault = Vault()
        await vault.fill([Self.full])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: vault.file.path)

        await vault.fill([Vault.record("claimed:x")])

        let mode = try FileManager.default.attributesOfItem(atPath: vault.file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test("a removed record leaves no trace in any file", arguments: [1, 7, 300])
    @ServiceActor
    func trace(count: Int) async throws {
        let vault = Vault()
        let store = vault.open()
        for number in 0..<count { store.store(Vault.record("claimed:org.example.number\(number).end")) }
        store.store(Self.full)
        store.note(AccessUse(userID: 1000, key: Self.full.key, level: .exact, day: .init(number: 20_000)))
        for number in 0..<count { store.store(Vault.record("host:org.example.other\(number).end")) }
        await store.finish()
        let wasThere = try vault.holds(Self.full.key) && vault.holds("near you")

        store.remove(Self.full.key, of: 1000)
        store.forgetUses(of: Self.full.key, of: 1000)
        for number in stride(from: 0, to: count, by: 2) {
            store.remove("claimed:org.example.number\(number).end", of: 1000)
        }
        _ = await store.settled()

        #expect(wasThere)
        #expect(try !vault.holds("org.example.Maps"))
        #expect(try !vault.holds("near you"))
        for number in stride(from: 0, to: count, by: 2) { #expect(try !vault.holds("org.example.number\(number).end")) }
        #expect(vault.open().book.records().count == count + count / 2)
    }

    @Test("what a record said before it was changed leaves no trace")
    @ServiceActor
    func changedTrace() async throws {
        let vault = Vault()
        await vault.fill([Self.full])
        var record = Self.full
        record.reason = nil
        record.author = .user(7)

        await vault.fill([record])

        #expect(try !vault.holds("near you"))
        #expect(try !vault.holds("shell"))
    }

    @Test("records that had to go for others are gone from the file as well")
    @ServiceActor
    func displaced() async {
        let vault = Vault()
        let store = vault.open()

        for number in 0..<(RecordBook.maximumUndecided + 3) {
            store.store(
                AuthorizationRecord(
                    userID: 1, key: "claimed:\(number)", decision: .ask, author: .nobody,
                    created: Timestamp(seconds: 1)))
        }
        _ = await store.settled()

        #expect(vault.open().book.records() == store.book.records())
    }

    // MARK: Uses

    @Test("uses are counted in memory, and written after half a minute")
    @ServiceActor
    func uses() async {
        let vault = Vault()
        let store = vault.open()
        let day = AccessHistory.Day(of: Timestamp(microseconds: vault.clock.wallTime))
        func use(_ level: AccuracyLevel) -> AccessUse { AccessUse(userID: 1, key: "host:maps", level: level, day: day) }

        store.note(use(.city))
        store.note(use(.exact))
        store.note(use(.street))
        _ = await store.settled()
        let before = vault.open().history
        await vault.clock.advance(by: SQLiteRecordStore.flushInterval)
        _ = await store.settled()

        #expect(before == AccessHistory())
        #expect(vault.open().history == store.history)
        #expect(store.history.days(of: 1, "host:maps") == [day: .init(count: 3, finestLevel: .exact)])
        #expect(vault.clock.pendingTimers == 0)
    }

    @Test("days that a wrong clock has left behind, or that are none, are forgotten")
    @ServiceActor
    func impossibleDays() async throws {
        let vault = Vault()
        let today = AccessHistory.Day(of: Timestamp(microseconds: vault.clock.wallTime)).number
        let store = vault.open()
        for days in [0, 1] as [Int64] {
            store.note(AccessUse(userID: 1, key: "host:maps", level: .exact, day: .init(number: today + days)))
        }
        await store.finish()
        do {
            let database = try vault.database()
            for day in [today + 2, .max, .min] as [Int64] {
                try database.run("INSERT INTO uses VALUES (1, 'host:maps', ?, 1, 8)", .integer(day))
            }
        }

        let next = vault.open()
        await next.finish()

        #expect(next.history.days(of: 1, "host:maps").keys.map { $0.number - today }.sorted() == [0, 1])
        var left: [Int64?] = []
        try vault.database().query("SELECT day FROM uses ORDER BY day") {
            left.append($0.integer(0))
        }
        #expect(left == [today, today + 1])
    }

    @Test("uses are kept for thirty days")
    @ServiceActor
    func oldUses() async {
        let vault = Vault()
        let store = vault.open()
        let today = AccessHistory.Day(of: Timestamp(microseconds: vault.clock.wallTime)).number
        for age in [0, 29, 30, 400] as [Int64] {
            store.note(AccessUse(userID: 1, key: "host:maps", level: .exact, day: .init(number: today - age)))
        }
        await store.finish()

        let next = vault.open()
        await next.finish()

        #expect(next.history.days(of: 1, "host:maps").keys.map { today - $0.number }.sorted() == [0, 29])
        #expect(vault.open().history == next.history)
    }
}
