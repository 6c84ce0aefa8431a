import EventLoop
import Geolocation
import Glibc

/// The file that records live in: `authorizations.db` in the state directory.
///
/// It is made complete under another name and then put in place, so an empty file is a damaged one.
struct RecordFile: Sendable {
    let path: String
    private let schema: Schema
    /// Further settings of the connection that writes.
    private let settings: String

    struct Contents: Sendable {
        var records: [AuthorizationRecord] = []
        var uses: [AccessHistory.Entry] = []
        /// How many rows made no sense, and stand as refusals.
        var unreadable = 0
        /// How many did not say whose they are, so that nothing stands for them.
        var nobodys = 0
    }

    init(directory: String, schema: Schema = .current, settings: String = "") {
        path = directory + "/authorizations.db"
        self.schema = schema
        self.settings = settings
    }

    var exists: Bool { access(path, F_OK) == 0 || errno != ENOENT }

    /// Where a damaged file is put. As long as it lies there, records may be missing.
    var damagedPath: String { path + ".damaged" }

    var hasDamaged: Bool { access(damagedPath, F_OK) == 0 }

    private static let companions = ["", "-wal", "-shm"]

    // MARK: Reading

    /// Everything that is in the file.
    ///
    /// - Throws: ``StoreFault/Reason/damaged`` also for a file that is no database, or none of ours.
    func read(patience: Int32) throws(StoreFault) -> Contents {
        if size(of: path) == 0 { throw StoreFault(reason: .damaged, detail: "it is empty") }
        do {
            return try read(Database(path, .readWrite, patience: patience))
        } catch {
            // Without a place for its shared memory SQLite reads a file only if nobody else can be writing it.
            guard [.inaccessible, .readOnly].contains(error.reason), size(of: path + "-wal") ?? 0 == 0 else {
                throw error
            }
            return try read(Database(path, .immutable, patience: patience))
        }
    }

    private func read(_ database: Database) throws(StoreFault) -> Contents {
        guard try database.number("application_id") == Schema.applicationID else {
            throw StoreFault(reason: .damaged, detail: "it holds something else")
        }
        var isWhole = false
        try database.query("PRAGMA quick_check(1)") { isWhole = $0.text(0) == "ok" }
        guard isWhole else { throw StoreFault(reason: .damaged, detail: "its tables contradict each other") }
        do { try schema.migrate(database) } catch {
            // An older version in a place that cannot be written to is still readable if nothing was added since.
            guard error.reason == .readOnly else { throw error }
        }
        var contents = Contents()
        try database.query("SELECT \(AuthorizationRecord.columns) FROM records") { row in
            guard let (userID, key) = row.owner else {
                contents.nobodys += 1
                return
            }
            let record = AuthorizationRecord(row, userID: userID, key: key)
            if record == nil { contents.unreadable += 1 }
            contents.records.append(record ?? .refusal(userID: userID, key: key))
        }
        try database.query("SELECT user, key, day, count, level FROM uses") { row in
            if let entry = AccessHistory.Entry(row) { contents.uses.append(entry) }
        }
        return contents
    }

    /// Puts a damaged file out of the way.
    func setAside() throws(StoreFault) {
        for companion in Self.companions where rename(path + companion, damagedPath + companion) != 0 {
            guard errno == ENOENT else { throw StoreFault(errno: errno) }
        }
    }

    // MARK: Writing

    /// Opens the file for writing; makes it where there is none.
    func open(patience: Int32) throws(StoreFault) -> Database {
        if !exists { try create() }
        guard size(of: path) != 0 else { throw StoreFault(reason: .damaged, detail: "it is empty") }
        // Whoever may have widened the rights.
        chmod(path, 0o600)
        let database = try Database(path, .readWrite, patience: patience)
        guard try database.number("application_id") == Schema.applicationID else {
            throw StoreFault(reason: .damaged, detail: "it holds something else")
        }
        try schema.migrate(database)
        try database.execute(
            "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;" + settings)
        return database
    }

    private func create() throws(StoreFault) {
        let new = path + ".new"
        for companion in Self.companions { unlink(new + companion) }
        // SQLite would ask for more rights than anybody needs; its companion files take these over.
        let descriptor = FileDescriptor(adopting: Glibc.open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        guard descriptor.raw >= 0 else { throw StoreFault(errno: errno) }
        do {
            let database = try Database(new, .readWrite, patience: 0)
            try database.execute(
                "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; "
                    + "PRAGMA application_id = \(Schema.applicationID)")
            try schema.migrate(database)
        }
        guard fsync(descriptor.raw) == 0, rename(new, path) == 0 else { throw StoreFault(errno: errno) }
        let folder = FileDescriptor(adopting: Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard folder.raw >= 0, fsync(folder.raw) == 0 else { throw StoreFault(errno: errno) }
    }

    private var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) }

    private func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}

extension StoreFault {
    /// The meaning of an error of the system's.
    init(errno code: Int32) {
        let reason: Reason =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EROFS: .readOnly
            case EACCES, EPERM, ENOENT, ENOTDIR, ELOOP: .inaccessible
            default: .failed
            }
        self.init(reason: reason, detail: String(cString: strerror(code)))
    }
}
