import EventLoop
import Geolocation

/// Records as they are seen, changed, and come to their end.
extension Authorizer {
    /// The records of one user, or of all; ceilings of agents are among them.
    package func records(of userID: UInt32?) -> [AuthorizationRecord] {
        store.book.records(of: userID).filter { !$0.hasExpired(at: now) }
    }

    /// How often applications were let in.
    package var history: AccessHistory { store.history }

    /// How many records there may be, where there is no room for another one; see ``RecordBook/limit(on:of:)``.
    package func limit(on key: String, of userID: UInt32) -> Int? { store.book.limit(on: key, of: userID) }

    /// Stores what a person has set by hand. It takes effect at once; comes back when it will last.
    ///
    /// - Returns: what keeps it from lasting longer than the service; `nil` if it will last.
    @discardableResult
    package func setRecord(_ record: AuthorizationRecord) async -> StoreFault? {
        store.store(record)
        recordChanged(record.key, of: record.userID)
        setExpiryTimer()
        return await store.settled()
    }

    /// What of an application's entry is to be forgotten.
    package enum Part: String, Sendable, CaseIterable { case decision, history }

    /// Forgets a record, its uses, or both. That takes effect at once; comes back when it is gone for good.
    ///
    /// - Returns: what keeps it from being gone for good; `nil` if it is.
    @discardableResult
    package func removeRecord(
        _ key: String, of userID: UInt32, _ parts: Set<Part> = Set(Part.allCases)
    ) async -> StoreFault? {
        if parts.contains(.history) { store.forgetUses(of: key, of: userID) }
        if parts.contains(.decision) { store.remove(key, of: userID) }
        recordChanged(key, of: userID)
        return await store.settled()
    }

    /// Users whose records may end with their session.
    package var usersWithSessionRecords: Set<UInt32> {
        Set(store.book.records().filter(\.isOfSession).map(\.userID))
    }

    /// The user's last session has ended, and with it what was allowed for no longer.
    ///
    /// - Parameter start: when the oldest session began that the user has now: what was decided since then stands.
    ///   `nil` if there is none.
    package func sessionEnded(of userID: UInt32, begunBefore start: Timestamp? = nil) {
        let ended = store.book.records(of: userID).filter { record in
            record.isOfSession && start.map { record.changed < $0 } ?? true
        }
        for record in ended { store.remove(record.key, of: userID) }
        for record in ended { recordChanged(record.key, of: userID) }
    }

    /// When the machine was started, by the system clock as it goes now.
    var bootTime: Timestamp {
        let parts = clock.now.components
        return Timestamp(
            microseconds: clock.wallTime - parts.seconds * 1_000_000 - parts.attoseconds / 1_000_000_000_000)
    }

    /// Forgets what is over by the system clock.
    package func expireRecords() {
        let now = now
        let expired = store.book.records().filter { $0.hasExpired(at: now) }
        for record in expired { store.remove(record.key, of: record.userID) }
        for record in expired { recordChanged(record.key, of: record.userID) }
        setExpiryTimer()
    }

    /// Judged by the system clock when it fires: that may have been set back meanwhile.
    private func setExpiryTimer() {
        expiryTimer = store.book.nextExpiry.map { expiry in
            clock.after(.microseconds(max(0, expiry.microseconds - now.microseconds))) { [weak self] in
                self?.expireRecords()
            }
        }
    }

    func noteSeen(_ requester: Requester, replacing: Bool) {
        let key = requester.application.key
        guard record(of: requester.userID, for: key) == nil, replacing || store.book.hasRoom(of: requester.userID)
        else { return }
        store.store(
            AuthorizationRecord(userID: requester.userID, key: key, decision: .ask, author: .nobody, created: now))
        onRecordChange?(requester.userID, key)
    }

    func recordChanged(_ key: String, of userID: UInt32) {
        onRecordChange?(userID, key)
        changed(userID)
    }
}
