import Geolocation
import Testing

@testable import Authorization

@Suite struct RecordBookTests {
    private func record(
        _ key: String, user: UInt32 = 1, _ decision: AuthorizationRecord.Decision = .allow,
        author: AuthorizationRecord.Author = .user(1), lifetime: AuthorizationRecord.Lifetime = .forever,
        created: Int64 = 0
    ) -> AuthorizationRecord {
        AuthorizationRecord(
            userID: user, key: key, decision: decision, author: author, lifetime: lifetime,
            created: Timestamp(seconds: created))
    }

    @Test("records of one user are not another's")
    func users() {
        let book = RecordBook([record("claimed:maps", user: 1, .allow), record("claimed:maps", user: 2, .deny)])

        #expect(book.record(of: 1, for: "claimed:maps")?.decision == .allow)
        #expect(book.record(of: 2, for: "claimed:maps")?.decision == .deny)
        #expect(book.records(of: 1).map(\.userID) == [1])
        #expect(book.records().map(\.userID) == [1, 2])
        #expect(book.records(of: 3).isEmpty)
    }

    @Test("a changed record keeps the time of its creation")
    func creation() {
        var book = RecordBook([record("claimed:maps", created: 10)])

        book.store(record("claimed:maps", .deny, created: 20))

        #expect(book.record(of: 1, for: "claimed:maps")?.decision == .deny)
        #expect(book.record(of: 1, for: "claimed:maps")?.created == Timestamp(seconds: 10))
        #expect(book.record(of: 1, for: "claimed:maps")?.changed == Timestamp(seconds: 20))
    }

    @Test("one ceiling a user is kept, the last one, and can be forgotten")
    func ceilings() {
        var book = RecordBook([record("agent:first", author: .agent(id: "first"))])

        let dropped = book.store(record("agent:second", author: .agent(id: "second")))

        #expect(dropped == ["agent:first"])
        #expect(book.ceiling(of: 1)?.key == "agent:second")
        #expect(book.ceiling(of: 2) == nil)
        book.remove("agent:second", of: 1)
        #expect(book.ceiling(of: 1) == nil)
        #expect(book.records().isEmpty)
    }

    @Test("applications about which nothing was decided cannot fill the book; decisions stay")
    func undecided() {
        var book = RecordBook([record("claimed:decided")])
        book.store(record("claimed:0", .ask, author: .nobody))
        book.store(record("claimed:0", .deny))

        for number in 1...(RecordBook.maximumUndecided + 2) {
            book.store(record("claimed:\(number)", .ask, author: .nobody))
        }

        #expect(book.records(of: 1).count == RecordBook.maximumUndecided + 2)
        #expect(book.record(of: 1, for: "claimed:0")?.decision == .deny)
        #expect(book.record(of: 1, for: "claimed:decided") != nil)
        #expect(book.record(of: 1, for: "claimed:2") == nil)
        #expect(book.record(of: 1, for: "claimed:3") != nil)
    }

    @Test("there is room for the user's own switch and for what takes another decision's place, whatever else there is")
    func limits() {
        var book = RecordBook()
        for number in 0..<RecordBook.maximumSelfNamed { book.store(record("claimed:\(number)", .deny)) }

        let early = [
            "claimed:new", "host:new", "unknown:new", "flatpak:new", "*", "claimed:0",
        ].map { book.limit(on: $0, of: 1) }
        for number in 0..<RecordBook.maximumDecided - RecordBook.maximumSelfNamed {
            book.store(record("flatpak:\(number)"))
        }
        let late = ["claimed:new", "flatpak:new", "*", "claimed:0", "flatpak:0"].map { book.limit(on: $0, of: 1) }
        book.remove("claimed:0", of: 1)

        #expect(early == [1024, 1024, 1024, nil, nil, nil])
        #expect(late == [4096, 4096, nil, nil, nil])
        #expect(book.limit(on: "claimed:new", of: 1) == nil)
        #expect(book.limit(on: "claimed:new", of: 2) == nil)
    }

    @Test("that an application was seen takes no room")
    func seenTakesNoRoom() {
        var book = RecordBook()
        for number in 0..<RecordBook.maximumSelfNamed - 1 { book.store(record("claimed:\(number)")) }

        book.store(record("claimed:seen", .ask, author: .nobody))
        let seen = book.limit(on: "claimed:seen", of: 1)
        book.store(record("claimed:seen", .allow))
        book.store(record("claimed:last", .ask, author: .nobody))

        #expect(seen == nil)
        #expect(book.limit(on: "claimed:last", of: 1) == RecordBook.maximumSelfNamed)
    }
}
