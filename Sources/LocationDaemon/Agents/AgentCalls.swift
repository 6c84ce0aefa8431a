import DBus
import EventLoop

/// Counts the calls to agents that wait for replies.
///
/// A connection to the stock bus may have 128 of them (dbus-daemon(1), `max_replies_per_connection`), and the bus counts
/// each until its reply or the peer's end, however long the caller waits. Agents that answer nothing are to leave enough
/// for logind, polkit and other users' agents.
@ServiceActor
final class AgentCalls {
    static let limit = 96
    static let limitPerUser = 64

    private var total = 0
    private var counts: [UInt32: Int] = [:]

    /// Counts a call that is to wait for its reply without a deadline, until ``end(to:)``.
    ///
    /// - Throws: `LimitsExceeded` where too many wait already.
    func begin(to userID: UInt32) throws(BusError) {
        let count = counts[userID, default: 0]
        guard total < Self.limit, count < Self.limitPerUser else {
            throw .limitsExceeded("\(count) calls to the agents of user \(userID) are unanswered")
        }
        total += 1
        counts[userID] = count + 1
    }

    func end(to userID: UInt32) {
        total -= 1
        counts[userID] = counts[userID].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
