import Authorization
import DBus
import Geolocation

/// One entry of `ListRecords`: a record, or an application that was let in without one.
struct RecordEntry {
    let userID: UInt32
    let key: String
    let record: AuthorizationRecord?
    /// The days on which the application was let in; empty where that is nobody else's to know.
    var days: [AccessHistory.Day: AccessHistory.Uses] = [:]

    /// - Parameter showsHistory: whether the single days are given, too.
    func entries(showsHistory: Bool) -> [String: Variant] {
        var entries: [String: Value] = ["app": .string(key), "uid": .uint32(userID)]
        if let application = ApplicationIdentity(key: key) {
            entries["trust"] = .string(application.trust.rawValue)
        }
        entries["decision"] = .string((record?.decision ?? .ask).rawValue)
        entries["decided-by"] = .string((record?.author ?? .nobody).text)
        if let record {
            entries["level"] = .uint32(record.level.rawValue)
            entries["type"] = .string(record.type.rawValue)
            entries["lifetime"] = .string(record.lifetime.rawValue)
            entries["created"] = .uint64(UInt64(clamping: record.created.microseconds))
            entries["changed"] = .uint64(UInt64(clamping: record.changed.microseconds))
            entries["expires"] = record.expires.map { .uint64(UInt64(clamping: $0.microseconds)) }
            entries["reason"] = record.reason.map { .string($0) }
        }
        entries["last-day"] = days.keys.max().map { .string("\($0)") }
        if showsHistory { entries["history"] = history }
        return entries.mapValues { Variant($0) }
    }

    /// Day, count and finest level, oldest first.
    private var history: Value {
        .array(
            of: Structure<String, UInt32, UInt32>.signature,
            days.sorted { $0.key < $1.key }.map { day, uses in
                .structure([.string("\(day)"), .uint32(uses.count), .uint32(uses.finestLevel.rawValue)])
            })
    }
}

extension AuthorizationRecord.Author {
    /// As the interface has it: `user:1000`, `agent:gnome-shell`.
    fileprivate var text: String {
        switch self {
        case .user(let userID): "user:\(userID)"
        case .agent(let id): "agent:\(id)"
        case .nobody: "nobody"
        }
    }
}
