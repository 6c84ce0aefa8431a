import Geolocation

extension Database {
    /// Makes changes as one transaction, which is on disk when this comes back.
    func apply(_ changes: [StoreChange]) throws(StoreFault) {
        try execute("BEGIN IMMEDIATE")
        do {
            for change in changes { try apply(change) }
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Leaves nothing of what was removed in the log of changes.
    ///
    /// - Returns: whether that could be done; a program that is reading keeps it from being done.
    func truncateLog() throws(StoreFault) -> Bool {
        var isBusy = true
        try query("PRAGMA wal_checkpoint(TRUNCATE)") { isBusy = $0.integer(0) != 0 }
        return !isBusy
    }

    private func apply(_ change: StoreChange) throws(StoreFault) {
        switch change {
        case .put(let record):
            let (author, authorID) = record.author.columns
            try run(
                "INSERT OR REPLACE INTO records (\(AuthorizationRecord.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                .integer(Int64(record.userID)), .text(record.key), .text(record.decision.rawValue),
                .integer(Int64(record.level.rawValue)), Binding(record.askedLevel.map { Int64($0.rawValue) }),
                .text(record.type.rawValue), .text(record.lifetime.rawValue), Binding(record.expires?.microseconds),
                .text(author), Binding(authorID), Binding(record.reason), .integer(record.created.microseconds),
                .integer(record.changed.microseconds))
        case .remove(let key, let userID):
            try run("DELETE FROM records WHERE user = ? AND key = ?", .integer(Int64(userID)), .text(key))
        case .putUses(let entry):
            try run(
                "INSERT OR REPLACE INTO uses (user, key, day, count, level) VALUES (?,?,?,?,?)",
                .integer(Int64(entry.userID)), .text(entry.key), .integer(entry.day.number),
                .integer(Int64(entry.uses.count)), .integer(Int64(entry.uses.finestLevel.rawValue)))
        case .removeUses(let key, let userID):
            try run("DELETE FROM uses WHERE user = ? AND key = ?", .integer(Int64(userID)), .text(key))
        case .removeUsesOutside(let days):
            try run(
                "DELETE FROM uses WHERE day NOT BETWEEN ? AND ?", .integer(days.lowerBound.number),
                .integer(days.upperBound.number))
        case .putAll(let records, let uses, let isReplacing):
            if isReplacing {
                for (userID, key) in try owners(in: "records") { try apply(.remove(key: key, userID: userID)) }
                for (userID, key) in try owners(in: "uses") { try apply(.removeUses(key: key, userID: userID)) }
            }
            for record in records { try apply(.put(record)) }
            for entry in uses { try apply(.putUses(entry)) }
        }
    }

    /// Whose the rows of a table are, as far as they say.
    private func owners(in table: String) throws(StoreFault) -> [(userID: UInt32, key: String)] {
        var owners: [(UInt32, String)] = []
        try query("SELECT DISTINCT user, key FROM \(table)") { row in
            if let owner = row.owner { owners.append(owner) }
        }
        return owners
    }
}

extension Database.Row {
    /// The user and the key in the first two columns; `nil` where they are none.
    var owner: (userID: UInt32, key: String)? {
        guard let userID = integer(0).flatMap({ UInt32(exactly: $0) }), let key = text(1) else { return nil }
        return (userID, key)
    }
}

extension AuthorizationRecord {
    static let columns =
        "user, key, decision, level, asked_level, type, lifetime, expires, author, author_id, reason, created, changed"

    /// - Returns: `nil` for a row that makes no sense.
    init?(_ row: Database.Row, userID: UInt32, key: String) {
        guard let decision = row.text(2).flatMap(Decision.init(rawValue:)), let level = AccuracyLevel(row.integer(3)),
            let type = row.text(5).flatMap(UseType.init(rawValue:)),
            let lifetime = row.text(6).flatMap(Lifetime.init(rawValue:)),
            let author = row.text(8).flatMap({ Author($0, id: row.text(9)) }), let created = row.integer(11),
            let changed = row.integer(12)
        else { return nil }
        let asked = AccuracyLevel(row.integer(4))
        guard asked != nil || row.isNull(4), lifetime != .until || row.integer(7) != nil else { return nil }
        self.init(
            userID: userID, key: key, decision: decision, level: level, askedLevel: asked, type: type, author: author,
            lifetime: lifetime, expires: row.integer(7).map(Timestamp.init(microseconds:)), reason: row.text(10),
            created: Timestamp(microseconds: created), changed: Timestamp(microseconds: changed))
    }

    /// What stands for a row that makes no sense: whatever it said, it lets nobody in.
    static func refusal(userID: UInt32, key: String) -> AuthorizationRecord {
        AuthorizationRecord(
            userID: userID, key: key, decision: .deny, level: .none, author: .nobody,
            created: Timestamp(microseconds: 0))
    }
}

extension AuthorizationRecord.Author {
    init?(_ name: String, id: String?) {
        switch name {
        case "user":
            guard let userID = id.flatMap({ UInt32($0) }) else { return nil }
            self = .user(userID)
        case "agent":
            guard let id else { return nil }
            self = .agent(id: id)
        case "nobody": self = .nobody
        default: return nil
        }
    }

    var columns: (name: String, id: String?) {
        switch self {
        case .user(let userID): ("user", String(userID))
        case .agent(let id): ("agent", id)
        case .nobody: ("nobody", nil)
        }
    }
}

extension AccuracyLevel {
    init?(_ number: Int64?) {
        guard let level = number.flatMap({ UInt32(exactly: $0) }).flatMap(AccuracyLevel.init(rawValue:)) else {
            return nil
        }
        self = level
    }
}

extension AccessHistory.Entry {
    init?(_ row: Database.Row) {
        guard let (userID, key) = row.owner,
            let day = row.integer(2).flatMap(AccessHistory.Day.init(stored:)),
            let count = row.integer(3).flatMap({ UInt32(exactly: $0) }),
            let level = AccuracyLevel(row.integer(4))
        else { return nil }
        self.init(
            userID: userID, key: key, day: day, uses: .init(count: count, finestLevel: level))
    }
}
