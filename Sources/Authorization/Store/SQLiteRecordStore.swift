import EventLoop
import Geolocation

/// Records in a file of the state directory, all of them in memory for deciding. The only writer of that directory.
///
/// Reads the file once, when it is made; a thread of its own writes it.
package final class SQLiteRecordStore: RecordStore {
    package private(set) var book = RecordBook()
    package private(set) var history = AccessHistory()
    package private(set) var isIncomplete = false

    private let clock: any Clock
    private var writer: RecordWriter!
    /// The number of the last change that was handed to the writer, and of the last one that it has tried.
    private var submitted: UInt64 = 0
    private var tried: UInt64 = 0
    /// The number of the last change that is written.
    private var written: UInt64 = 0
    /// Whether changes were left out while nothing could be written, so that everything is to be written anew.
    private(set) var isBehind = false
    /// Whether all that the file holds is known here, where there was one.
    private var wasRead = true
    /// What kept the writer from writing when it last tried.
    private var fault: StoreFault?
    private var waiting: [(number: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

    /// Leave for one use that has not been written yet, by the number of its change.
    private var unkept: [StoreChange.Subject: UInt64] = [:]

    private var unwrittenUses: [StoreChange.Subject: AccessHistory.Entry] = [:]
    private var flushTimer: Timer?
    private var keptDays: ClosedRange<AccessHistory.Day>?

    /// How long uses are only counted in memory.
    package static let flushInterval = Duration.seconds(30)
    /// How many changes are put by for a file that cannot be written. Applications can bring about any number of them.
    static let maximumUnwritten: UInt64 = 4096
    /// How long reading waits for the lock of another program, in milliseconds. The service does not answer meanwhile.
    private static let readingPatience: Int32 = 1000

    package convenience init(in directory: StateDirectory, clock: any Clock) {
        self.init(in: directory, file: RecordFile(directory: directory.path), patience: 5000, clock: clock)
    }

    /// - Parameter patience: how long the writer waits for the lock of another program, in milliseconds.
    init(in directory: StateDirectory, file: RecordFile, patience: Int32, clock: any Clock) {
        self.clock = clock
        writer = RecordWriter(file, in: directory, patience: patience) { [weak self] number, fault in
            Task { @ServiceActor in self?.wrote(number, fault) }
        }
        read(file, in: directory)
        forgetOldDays()
    }

    isolated deinit { writer.end() }

    private func read(_ file: RecordFile, in directory: StateDirectory) {
        if let fault = directory.prepare() {
            // What lies in somebody else's folder is not this service's.
            (isIncomplete, wasRead) = (directory.isOwn, !directory.isOwn)
            return warnOfWriting(fault)
        }
        if file.hasDamaged {
            isIncomplete = true
            Log.warning(
                "\(file.damagedPath) was set aside as damaged: whoever would have been let in without a question is "
                    + "asked about until it has been dealt with and removed")
        }
        guard file.exists else { return }
        do {
            let contents = try file.read(patience: Self.readingPatience)
            book = RecordBook(contents.records)
            history = AccessHistory(contents.uses)
            if contents.unreadable > 0 {
                Log.error("\(contents.unreadable) records make no sense, and count as refusals")
            }
            if contents.nobodys > 0 {
                isIncomplete = true
                Log.error(
                    "\(contents.nobodys) records do not say whose they are: whoever would have been let in without a "
                        + "question is asked about")
            }
        } catch {
            (isIncomplete, wasRead) = (true, false)
            Log.error("the stored decisions cannot be read: \(error); nobody is let in by that")
            if error.reason == .damaged { setAside(file) }
        }
    }

    private func setAside(_ file: RecordFile) {
        do {
            try file.setAside()
            Log.warning("the damaged file is kept as \(file.damagedPath)")
        } catch {
            Log.error("the damaged file cannot be set aside: \(error)")
        }
    }

    // MARK: Records

    package func store(_ record: AuthorizationRecord) {
        for key in book.store(record) { submit(.remove(key: key, userID: record.userID)) }
        guard let stored = book.record(of: record.userID, for: record.key) else { return }
        submit(.put(stored))
        // What was left out is written with the next change.
        if stored.lifetime == .once { unkept[StoreChange.put(stored).subject] = isBehind ? submitted + 1 : submitted }
    }

    package func remove(_ key: String, of userID: UInt32) {
        guard book.remove(key, of: userID) != nil else { return }
        submit(.remove(key: key, userID: userID))
    }

    package func wasKept(_ key: String, of userID: UInt32) -> Bool {
        unkept[.record(key: key, userID: userID)] == nil
    }

    // MARK: Uses

    package func note(_ use: AccessUse) {
        guard let entry = history.note(use.level, by: use.key, of: use.userID, on: use.day) else { return }
        unwrittenUses[StoreChange.putUses(entry).subject] = entry
        if flushTimer == nil {
            flushTimer = clock.after(Self.flushInterval) { [weak self] in
                self?.flushTimer = nil
                self?.flushUses()
            }
        }
    }

    package func forgetUses(of key: String, of userID: UInt32) {
        history.forget(key, of: userID)
        unwrittenUses = unwrittenUses.filter { $0.value.userID != userID || $0.value.key != key }
        submit(.removeUses(key: key, userID: userID))
    }

    private func flushUses() {
        let entries = unwrittenUses.values
        unwrittenUses = [:]
        for entry in entries { submit(.putUses(entry)) }
        forgetOldDays()
    }

    private func forgetOldDays() {
        let today = AccessHistory.Day(of: Timestamp(microseconds: clock.wallTime))
        let oldest = AccessHistory.Day(number: today.number - AccessHistory.days + 1)
        // A clock that was ahead has left days behind that would never grow old.
        let days = oldest...AccessHistory.Day(number: today.number + 1)
        guard days != keptDays else { return }
        keptDays = days
        if history.forget(outside: days) { submit(.removeUsesOutside(days)) }
    }

    // MARK: Writing

    private func submit(_ change: StoreChange) {
        isBehind = isBehind || fault != nil && submitted - written >= Self.maximumUnwritten
        if isBehind { writer.tryAgain() } else { submitted = writer.submit(change) }
    }

    /// Has everything written anew, in place of the changes that were left out.
    private func catchUp() {
        guard isBehind else { return }
        isBehind = false
        submitted = writer.submit(.putAll(book.records(), history.entries, replacing: wasRead))
    }

    private func wrote(_ number: UInt64, _ fault: StoreFault?) {
        switch (self.fault, fault) {
        case (nil, let fault?): warnOfWriting(fault)
        case (_?, nil): Log.notice("decisions are kept again")
        default: break
        }
        self.fault = fault
        if fault == nil {
            written = number
            unkept = unkept.filter { $0.value > number }
            catchUp()
        }
        tried = max(tried, number)
        let ready = waiting.filter { $0.number <= tried }
        waiting.removeAll { $0.number <= tried }
        for each in ready { each.continuation.resume() }
    }

    private func warnOfWriting(_ fault: StoreFault) {
        self.fault = fault
        Log.warning("decisions cannot be kept: \(fault); what is decided now holds until the service stops")
    }

    package func settled() async -> StoreFault? {
        if isBehind { return fault }
        let number = submitted
        if tried < number { await withCheckedContinuation { waiting.append((number, $0)) } }
        return submitted == 0 ? nil : fault
    }

    package func finish() async {
        flushTimer = nil
        flushUses()
        catchUp()
        _ = await settled()
    }
}
