/// One change of the file.
enum StoreChange: Sendable {
    case put(AuthorizationRecord)
    case remove(key: String, userID: UInt32)
    case putUses(AccessHistory.Entry)
    case removeUses(key: String, userID: UInt32)
    case removeUsesOutside(ClosedRange<AccessHistory.Day>)
    /// Everything there is. In place of what the file holds, as far as that says whose it is; beside it where the file
    /// could not be read, and holds what nobody knows.
    case putAll([AuthorizationRecord], [AccessHistory.Entry], replacing: Bool)

    /// What a change is about: a later one about the same takes the place of an earlier one.
    enum Subject: Hashable {
        case record(key: String, userID: UInt32)
        case day(AccessHistory.Day, key: String, userID: UInt32)
        case uses(key: String, userID: UInt32)
        case oldUses
        case everything
    }

    var subject: Subject {
        switch self {
        case .put(let record): .record(key: record.key, userID: record.userID)
        case .remove(let key, let userID): .record(key: key, userID: userID)
        case .putUses(let entry): .day(entry.day, key: entry.key, userID: entry.userID)
        case .removeUses(let key, let userID): .uses(key: key, userID: userID)
        case .removeUsesOutside: .oldUses
        case .putAll: .everything
        }
    }

    /// The same in the end with fewer changes, in order.
    static func coalesced(_ changes: [StoreChange]) -> [StoreChange] {
        var last: [Subject: Int] = [:]
        for (index, change) in changes.enumerated() { last[change.subject] = index }
        return changes.enumerated().filter { last[$1.subject] == $0 }.map(\.element)
    }
}
