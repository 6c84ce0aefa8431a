import Authorization
import DBus
import EventLoop
import Geolocation

/// What users and administrators see and change of decisions: `/org/whereabouts1/Control`, on a connection of its own.
///
/// Everybody's own records are theirs; those of others take polkit's leave. No sandboxed program comes near either.
package final class ControlObject: BusObject {
    package static let interface = Interface<ControlObject>(WhereaboutsNames.control) {
        Method("ListRecords", "filter", returns: "records", access: .unsandboxed, body: ControlObject.listRecords)
        Method("SetRecord", "app", "record", access: .unsandboxed, body: ControlObject.setRecord)
        Method("RemoveRecord", "app", "options", access: .unsandboxed, body: ControlObject.removeRecord)
        Method("Subscribe", access: .unsandboxed, body: ControlObject.subscribe)
        Signal("Changed", "what", "app", of: String.self, String.self)
    }

    fileprivate let peers: PeerDirectory
    private let connection: Connection
    private let authorizer: Authorizer
    private let polkit: Polkit
    private let clock: any Clock
    /// Who wants to hear of changes, by connection.
    private var subscribers: [BusName: UInt32] = [:]

    /// Serves the object on `connection`.
    ///
    /// - Parameter identify: finds out who calls.
    package init(
        connection: Connection, authorizer: Authorizer, clock: any Clock = LoopClock.shared,
        identify: @escaping Identification = Peer.identify
    ) {
        self.connection = connection
        self.authorizer = authorizer
        self.clock = clock
        peers = PeerDirectory(connection, identify: identify)
        polkit = Polkit(connection)
        peers.onDeparture = { [weak self] in self?.subscribers[$0] = nil }
        authorizer.onRecordChange = { [weak self] in self?.recordChanged(of: $0, $1) }
        connection.objects.add(self, at: WhereaboutsNames.controlPath)
    }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    // MARK: Methods

    func listRecords(_ call: MethodCall, filter: [String: Variant]) async throws -> [[String: Variant]] {
        var filter = Entries(filter)
        let app = try filter.string("app")
        let userID: UInt32? = try filter.number("uid")
        let showsHistory = try filter.flag("history") ?? false
        try filter.finish()
        let caller = try await authorizedCaller(of: call, for: userID)
        // Root sees everybody's unless it asks about one.
        let chosen = userID ?? (caller == 0 ? nil : caller)
        return entries(of: chosen, for: caller).filter { app == nil || $0.key == app }.map {
            $0.entries(showsHistory: showsHistory && $0.userID == caller)
        }
    }

    func setRecord(_ call: MethodCall, app: String, record: [String: Variant]) async throws {
        guard app == AuthorizationRecord.userSwitch || ApplicationIdentity(key: app) != nil else {
            throw ServiceError.invalidKey
        }
        let request = try RecordRequest(record)
        let caller = try await authorizedCaller(of: call, for: request.userID)
        let userID = request.userID ?? caller
        if let limit = authorizer.limit(on: app, of: userID) { throw ServiceError.tooManyRecords(limit: limit) }
        let old = authorizer.records(of: userID).first { $0.key == app }
        let record = try request.record(key: app, userID: userID, author: caller, replacing: old, now: now)
        if let fault = await authorizer.setRecord(record) { throw ServiceError.notKept(fault) }
    }

    /// Succeeds, too, where there is nothing to be forgotten.
    func removeRecord(_ call: MethodCall, app: String, options: [String: Variant]) async throws {
        guard Self.isKey(app) else { throw ServiceError.invalidKey }
        var options = Entries(options)
        let userID: UInt32? = try options.number("uid")
        let only: Authorizer.Part? = try options.word("only")
        try options.finish()
        let caller = try await authorizedCaller(of: call, for: userID)
        let parts = only.map { [$0] } ?? Set(Authorizer.Part.allCases)
        if let fault = await authorizer.removeRecord(app, of: userID ?? caller, parts) {
            throw ServiceError.notKept(fault)
        }
    }

    func subscribe(_ call: MethodCall) async throws {
        let peer = try await peers.peer(call.sender)
        subscribers[peer.name] = peer.userID
    }

    // MARK: Rules

    private static func isKey(_ key: String) -> Bool {
        key == AuthorizationRecord.userSwitch || key.hasPrefix("agent:") || ApplicationIdentity(key: key) != nil
    }

    /// The user who calls. For the records of others that takes polkit's leave, which may ask a person first.
    ///
    /// - Parameter userID: whose records it is about; `nil` for the caller's own.
    private func authorizedCaller(of call: MethodCall, for userID: UInt32?) async throws(ServiceError) -> UInt32 {
        let peer = try await peers.peer(call.sender)
        if let userID, userID != peer.userID {
            try await polkit.authorize(call, from: peer, for: WhereaboutsNames.manageAction)
        }
        return peer.userID
    }

    private var now: Timestamp { Timestamp(microseconds: clock.wallTime) }

    /// Records, and applications that were let in without one, as `reader` may see them: uses are nobody else's.
    private func entries(of userID: UInt32?, for reader: UInt32) -> [RecordEntry] {
        let records = authorizer.records(of: userID)
        var entries = records.map { RecordEntry(userID: $0.userID, key: $0.key, record: $0) }
        guard userID == nil || userID == reader else { return entries }
        let history = authorizer.history
        var unrecorded = Set(history.keys(of: reader))
        for index in entries.indices where entries[index].userID == reader {
            unrecorded.remove(entries[index].key)
            entries[index].days = history.days(of: reader, entries[index].key)
        }
        return entries
            + unrecorded.sorted().map {
                RecordEntry(userID: reader, key: $0, record: nil, days: history.days(of: reader, $0))
            }
    }

    // MARK: Changes

    private func recordChanged(of userID: UInt32, _ key: String) {
        for (name, subscriber) in subscribers where subscriber == userID && !connection.isCongested {
            do {
                try connection.emit(
                    WhereaboutsNames.controlPath, WhereaboutsNames.control, "Changed", to: name, "record", key)
            } catch {
                Log.error("cannot tell a subscriber of a change: \(error)")
            }
        }
    }
}

extension Access<ControlObject> {
    /// Callers outside of any sandbox.
    static var unsandboxed: Access { .unsandboxed { $0.peers } }
}
