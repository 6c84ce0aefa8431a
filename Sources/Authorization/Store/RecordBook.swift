import Geolocation

/// All records in memory, for deciding. Whatever store writes them to disk owns one.
package struct RecordBook: Sendable {
    /// How many records a user may have. Beyond, nothing further is decided: a decision that went unasked for another one
    /// might be a refusal.
    package static let maximumDecided = 4096

    /// How many of them may decide about names that programs give themselves, so that one which does so without end
    /// leaves room for those whose names are given to them.
    package static let maximumSelfNamed = 1024

    /// How many records of applications a user may have about which nothing was decided; the oldest go first.
    ///
    /// An unsandboxed program may claim any number of ids.
    package static let maximumUndecided = 256

    private struct UserRecords {
        var byKey: [String: AuthorizationRecord] = [:]
        var ceilingKey: String?
        /// Keys of undecided records, oldest first.
        var undecided: [String] = []
        /// How many records decide about names that programs give themselves.
        var selfNamed = 0

        mutating func store(_ record: AuthorizationRecord) -> [String] {
            var record = record
            var dropped: [String] = []
            if let old = byKey[record.key] {
                record.created = old.created
                undecided.removeAll { $0 == record.key }
                if old.isOfSelfNamed { selfNamed -= 1 }
            }
            if record.isOfSelfNamed { selfNamed += 1 }
            if record.isCeiling {
                if let old = ceilingKey, old != record.key { dropped.append(old) }
                ceilingKey = record.key
            }
            if record.isUndecided {
                undecided.append(record.key)
                if undecided.count > RecordBook.maximumUndecided { dropped.append(undecided.removeFirst()) }
            }
            byKey[record.key] = record
            for key in dropped { byKey[key] = nil }
            return dropped
        }

        mutating func remove(_ key: String) -> AuthorizationRecord? {
            undecided.removeAll { $0 == key }
            if ceilingKey == key { ceilingKey = nil }
            let old = byKey.removeValue(forKey: key)
            if old?.isOfSelfNamed == true { selfNamed -= 1 }
            return old
        }
    }

    private var users: [UInt32: UserRecords] = [:]

    /// The users that have records.
    package var userIDs: Set<UInt32> { Set(users.keys) }

    package init(_ records: [AuthorizationRecord] = []) {
        for record in records { store(record) }
    }

    package func record(of userID: UInt32, for key: String) -> AuthorizationRecord? { users[userID]?.byKey[key] }

    /// The last ceiling that an agent of the user sent: one a user, whichever agent it was.
    package func ceiling(of userID: UInt32) -> AuthorizationRecord? {
        users[userID].flatMap { records in records.ceilingKey.flatMap { records.byKey[$0] } }
    }

    /// The records of one user, or of all, by user and key.
    package func records(of userID: UInt32? = nil) -> [AuthorizationRecord] {
        let chosen = userID.map { id in users[id].map { [$0] } ?? [] } ?? Array(users.values)
        return chosen.flatMap(\.byKey.values).sorted { ($0.userID, $0.key) < ($1.userID, $1.key) }
    }

    /// Adds or replaces a record, which keeps the day of its creation.
    ///
    /// - Returns: the keys of records that had to go for it.
    @discardableResult
    package mutating func store(_ record: AuthorizationRecord) -> [String] {
        users[record.userID, default: UserRecords()].store(record)
    }

    /// - Returns: what was removed.
    @discardableResult
    package mutating func remove(_ key: String, of userID: UInt32) -> AuthorizationRecord? {
        let old = users[userID]?.remove(key)
        if users[userID]?.byKey.isEmpty == true { users[userID] = nil }
        return old
    }

    /// What keeps a decision from being kept: how many there may be. `nil` if there is room, as there always is for the
    /// user's own switch and for what takes another decision's place.
    package func limit(on key: String, of userID: UInt32) -> Int? {
        guard key != AuthorizationRecord.userSwitch, let records = users[userID],
            records.byKey[key].map(\.isUndecided) ?? true
        else { return nil }
        if records.byKey.count - records.undecided.count >= Self.maximumDecided { return Self.maximumDecided }
        let isSelfNamed = ApplicationIdentity(key: key)?.trust.isSelfGiven ?? false
        return isSelfNamed && records.selfNamed >= Self.maximumSelfNamed ? Self.maximumSelfNamed : nil
    }

    /// Whether one more application can be noted about which nothing was decided, without another one going for it.
    package func hasRoom(of userID: UInt32) -> Bool {
        users[userID].map { $0.undecided.count < Self.maximumUndecided } ?? true
    }

    /// When the first record ends by itself.
    package var nextExpiry: Timestamp? {
        users.values.lazy.flatMap(\.byKey.values).compactMap { $0.lifetime == .until ? $0.expires : nil }.min()
    }
}

extension AuthorizationRecord {
    /// Whether it decides about an application that may have named itself.
    fileprivate var isOfSelfNamed: Bool {
        !isUndecided && ApplicationIdentity(key: key)?.trust.isSelfGiven ?? false
    }
}
