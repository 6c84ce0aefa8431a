import EventLoop
import Geolocation

/// Where records live. A change is seen at once, and survives the process after the next ``settled()``.
@ServiceActor
package protocol RecordStore: AnyObject {
    var book: RecordBook { get }
    var history: AccessHistory { get }

    /// Whether records that there were could not be read, so that what is missing may have been a refusal.
    var isIncomplete: Bool { get }

    func store(_ record: AuthorizationRecord)
    func remove(_ key: String, of userID: UInt32)

    /// Whether a record of that key has been on the disk since it was last stored, so that a removal which is not written
    /// lets it come back.
    func wasKept(_ key: String, of userID: UInt32) -> Bool

    /// Counts a use. Written now and then, not at once.
    func note(_ use: AccessUse)
    /// Forgets the uses of an application.
    func forgetUses(of key: String, of userID: UInt32)

    /// Comes back once all that was changed so far will survive the process, or cannot be made to.
    ///
    /// - Returns: what keeps it from surviving; `nil` if it will.
    @discardableResult
    func settled() async -> StoreFault?

    /// Writes what has not been written yet. For the end of the service.
    func finish() async
}

/// An application that was let in.
package struct AccessUse: Sendable, Hashable {
    package let userID: UInt32
    package let key: String
    package let level: AccuracyLevel
    package let day: AccessHistory.Day
}
