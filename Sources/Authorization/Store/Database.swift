internal import CSQLite

/// One connection to a SQLite file. One thread at a time uses it.
final class Database {
    enum Access {
        case readWrite
        /// For a new file, which must not be there.
        case create
        /// For a file in a folder that cannot be written to. Nobody may change it meanwhile.
        case immutable
    }

    enum Binding {
        case integer(Int64)
        case text(String)
        case null

        init(_ text: String?) { self = text.map { .text($0) } ?? .null }
        init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }
    }

    /// The row that a query stands at.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: Int32) -> Int64? {
            guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
            return sqlite3_column_int64(statement, column)
        }

        func text(_ column: Int32) -> String? {
            guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
            guard let start = sqlite3_column_text(statement, column) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }

        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    }

    private let handle: OpaquePointer

    /// - Parameter patience: how long each access waits for a lock of another program, in milliseconds.
    init(_ path: String, _ access: Access, patience: Int32) throws(StoreFault) {
        var name = path
        var flags = SQLITE_OPEN_NOMUTEX
        switch access {
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:\(Self.escaped(path))?immutable=1"
        }
        var handle: OpaquePointer?
        let status = sqlite3_open_v2(name, &handle, flags, nil)
        guard let handle else { throw StoreFault(sqlite: SQLITE_NOMEM) }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        guard status == SQLITE_OK else { throw StoreFault(sqlite: status) }
        sqlite3_busy_timeout(handle, patience)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that give no rows, or whose rows nobody needs.
    func execute(_ statements: String) throws(StoreFault) {
        try check(sqlite3_exec(handle, statements, nil, nil, nil))
    }

    func run(_ statement: String, _ bindings: Binding...) throws(StoreFault) {
        try query(statement, bindings) { _ in }
    }

    func query(_ statement: String, _ bindings: [Binding] = [], _ body: (Row) -> Void) throws(StoreFault) {
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, statement, -1, &prepared, nil))
        guard let prepared else { return }
        defer { sqlite3_finalize(prepared) }
        for (index, binding) in bindings.enumerated() { try check(bind(binding, at: Int32(index + 1), of: prepared)) }
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW: body(Row(statement: prepared))
            case SQLITE_DONE: return
            case let status: throw StoreFault(sqlite: status)
            }
        }
    }

    /// The number that a pragma gives.
    func number(_ pragma: String) throws(StoreFault) -> Int64? {
        var number: Int64?
        try query("PRAGMA \(pragma)") { number = $0.integer(0) }
        return number
    }

    private func bind(_ binding: Binding, at index: Int32, of statement: OpaquePointer) -> Int32 {
        switch binding {
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .null: return sqlite3_bind_null(statement, index)
        case .text(let text):
            // SQLITE_TRANSIENT, a cast that the importer leaves out: SQLite makes a copy.
            let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            return sqlite3_bind_text(statement, index, text, -1, copies)
        }
    }

    private func check(_ status: Int32) throws(StoreFault) {
        if status != SQLITE_OK { throw StoreFault(sqlite: status) }
    }

    /// For the path of a `file:` name (sqlite.org, “Uniform Resource Identifiers”).
    private static func escaped(_ path: String) -> String {
        var escaped = ""
        for character in path {
            switch character {
            case "%": escaped += "%25"
            case "?": escaped += "%3f"
            case "#": escaped += "%23"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension StoreFault {
    /// The meaning of a result code (sqlite.org, “Result and Error Codes”).
    init(sqlite code: Int32) {
        let reason: Reason =
            switch code & 0xFF {
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_BUSY, SQLITE_LOCKED: .locked
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .inaccessible
            default: .failed
            }
        self.init(reason: reason, detail: String(cString: sqlite3_errstr(code)))
    }
}
