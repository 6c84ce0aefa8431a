import DBus
import EventLoop

/// Which calls to agents may wait for their replies.
///
/// A connection to the stock bus may have 128 calls that wait (dbus-daemon(1), `max_replies_per_connection`), and the bus
/// counts each until its reply or the peer's end, however long the caller waits. Agents that answer nothing leave enough
/// for logind, for other users' agents, and for all ceilings to be read.
@ServiceActor
final class AgentCalls {
    let questions = CallQuota(limit: 80, limitPerUser: 64)
    private let ceilings = CallQuota(limit: 24, limitPerUser: 8)
    /// Whoever may have programs run as other users, can have any number of these.
    private let ceilingsWithoutSession = CallQuota(limit: 8, limitPerUser: 1)

    /// - Parameter hasSession: whether the user of the agent is logged in.
    func ceilings(hasSession: Bool) -> CallQuota { hasSession ? ceilings : ceilingsWithoutSession }
}

/// How many calls of one kind may wait.
@ServiceActor
final class CallQuota {
    private let limit: Int
    private let limitPerUser: Int
    private var total = 0
    private var counts: [UInt32: Int] = [:]

    init(limit: Int, limitPerUser: Int) {
        self.limit = limit
        self.limitPerUser = limitPerUser
    }

    /// Counts a call that is to wait for its reply without a deadline, until ``end(to:)``.
    ///
    /// - Throws: `LimitsExceeded` where too many wait already.
    func begin(to userID: UInt32) throws(BusError) {
        let count = counts[userID, default: 0]
        guard total < limit, count < limitPerUser else {
            throw .limitsExceeded("\(total) calls to agents are unanswered, \(count) of them to user \(userID)")
        }
        total += 1
        counts[userID] = count + 1
    }

    func end(to userID: UInt32) {
        total -= 1
        counts[userID] = counts[userID].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
}
