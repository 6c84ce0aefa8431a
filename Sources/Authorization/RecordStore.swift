import EventLoop

/// Where records live. A change is seen at once, and survives the process after the next ``settled()``.
@ServiceActor
package protocol RecordStore: AnyObject {
    var book: RecordBook { get }

    func store(_ record: AuthorizationRecord)
    func remove(_ key: String, of userID: UInt32)
    /// Forgets what holds no longer than the user's session.
    func endSession(of userID: UInt32)

    /// Comes back once all that was changed so far will survive the process, or cannot be made to.
    func settled() async
}

/// Records that end with the process.
package final class MemoryRecordStore: RecordStore {
    package private(set) var book: RecordBook

    package init(_ book: RecordBook = RecordBook()) { self.book = book }

    package func store(_ record: AuthorizationRecord) { book.store(record) }

    package func remove(_ key: String, of userID: UInt32) { book.remove(key, of: userID) }

    package func endSession(of userID: UInt32) { book.endSession(of: userID) }

    package func settled() async {}
}
