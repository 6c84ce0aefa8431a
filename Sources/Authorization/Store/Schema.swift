/// How the tables came to be what they are: the steps from each version to the next, beginning with the empty file.
struct Schema {
    /// The steps, whose number is the version that they lead to.
    let steps: [String]

    /// Marks the file as ours (`PRAGMA application_id`): “Whab”.
    static let applicationID: Int64 = 0x5768_6162

    static let current = Schema(steps: [
        """
        CREATE TABLE records (
            user INTEGER NOT NULL, key TEXT NOT NULL, decision TEXT NOT NULL, level INTEGER NOT NULL,
            asked_level INTEGER, type TEXT NOT NULL, lifetime TEXT NOT NULL, expires INTEGER, author TEXT NOT NULL,
            author_id TEXT, reason TEXT, created INTEGER NOT NULL, changed INTEGER NOT NULL, PRIMARY KEY (user, key)
        ) WITHOUT ROWID;
        CREATE TABLE uses (
            user INTEGER NOT NULL, key TEXT NOT NULL, day INTEGER NOT NULL, count INTEGER NOT NULL,
            level INTEGER NOT NULL, PRIMARY KEY (user, key, day)
        ) WITHOUT ROWID;
        """
    ])

    var version: Int64 { Int64(steps.count) }

    /// Brings a file to this version.
    ///
    /// - Throws: ``StoreFault/Reason/newer`` for a file that a later version has written.
    func migrate(_ database: Database) throws(StoreFault) {
        let found = try database.number("user_version") ?? 0
        guard found <= version, found >= 0 else {
            throw StoreFault(reason: .newer, detail: "version \(found), known is \(version)")
        }
        guard found < version else { return }
        try database.execute("BEGIN IMMEDIATE")
        for step in steps[Int(found)...] { try database.execute(step) }
        try database.execute("PRAGMA user_version = \(version); COMMIT")
    }
}
