import Authorization
import EventLoop

/// Records that end with the process.
package final class MemoryRecordStore: RecordStore {
    package private(set) var book: RecordBook
    package private(set) var history = AccessHistory()

    package init(_ book: RecordBook = RecordBook()) { self.book = book }

    package var isIncomplete: Bool { false }

    package func store(_ record: AuthorizationRecord) { book.store(record) }

    package func remove(_ key: String, of userID: UInt32) { book.remove(key, of: userID) }

    package func wasKept(_ key: String, of userID: UInt32) -> Bool { false }

    package func note(_ use: AccessUse) { _ = history.note(use.level, by: use.key, of: use.userID, on: use.day) }

    package func forgetUses(of key: String, of userID: UInt32) { history.forget(key, of: userID) }

    package func settled() async -> StoreFault? { nil }

    package func finish() async {}
}
