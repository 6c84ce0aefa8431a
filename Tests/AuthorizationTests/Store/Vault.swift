import EventLoop
import Foundation
import Geolocation
import LocationTestSupport

@testable import Authorization

/// A state directory of a test's own, and the stores that are opened in it one after the other.
@ServiceActor
final class Vault {
    let clock = ManualClock()
    nonisolated let folder: URL

    init() {
        EventLoop.startThread()
        folder = TestFolder.unused("vault")
    }

    deinit {
        // Where a writer is just ending, the end of the process does it.
        try? FileManager.default.removeItem(at: folder)
    }

    nonisolated var directory: StateDirectory { StateDirectory(folder.path) }
    nonisolated var file: URL { folder.appending(path: "authorizations.db") }

    func open(schema: Schema = .current, settings: String = "", patience: Int32 = 50) -> SQLiteRecordStore {
        SQLiteRecordStore(
            in: directory, file: RecordFile(directory: folder.path, schema: schema, settings: settings),
            patience: patience, clock: clock)
    }

    /// Puts records into the file, and lets go of it.
    func fill(_ records: [AuthorizationRecord]) async {
        await write(records)
        await clock.settle()
    }

    private func write(_ records: [AuthorizationRecord]) async {
        let store = open()
        for record in records { store.store(record) }
        await store.finish()
    }

    /// The file, as another program sees it.
    nonisolated func database() throws(StoreFault) -> Database {
        try Database(file.path, .readWrite, patience: 10_000)
    }

    /// Changes the file by hand.
    nonisolated func change(_ statements: String) throws(StoreFault) { try database().execute(statements) }

    /// Every byte of every file in the folder.
    func bytes() throws -> Data {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.reduce(into: Data()) { $0 += try Data(contentsOf: folder.appending(path: $1)) }
    }

    func holds(_ text: String) throws -> Bool { try bytes().range(of: Data(text.utf8)) != nil }

    static nonisolated func record(
        _ key: String = "flatpak:org.example.Maps", _ decision: AuthorizationRecord.Decision = .allow,
        level: AccuracyLevel = .exact, user: UInt32 = 1000
    ) -> AuthorizationRecord {
        AuthorizationRecord(
            userID: user, key: key, decision: decision, level: level, author: .user(user),
            created: Timestamp(seconds: 1_700_000_000))
    }
}
