/// How long to wait before the next attempt to connect.
///
/// Waits double while nothing works. A connection that worked and ended is followed up at once; one that ends again
/// within ``steady`` does not count as having worked anew, so a peer that hangs up on everybody is never spun on.
package struct Reconnect: Sendable, Equatable {
    /// Growing waits: `first`, twice that, and so on, up to `limit`.
    package struct Waits: Sendable, Equatable {
        let first: Duration
        let limit: Duration

        package init(first: Duration, limit: Duration) {
            self.first = first
            self.limit = limit
        }

        func wait(_ step: Int) -> Duration { step > 16 ? limit : min(first * (1 << step), limit) }
    }

    /// How long a connection must have lasted to be followed up at once again.
    package static let steady = Duration.seconds(10)

    private let refused: Waits
    private let ended: Waits
    private let triesAtOnce: Bool
    private var hasWorked = false
    private var step = 0

    /// - Parameters:
    ///   - refused: waits while there has been no connection yet.
    ///   - ended: waits after one that worked; the first attempt comes at once.
    ///   - triesAtOnce: whether the first refusal, too, is followed by an attempt at once.
    package init(refused: Waits, ended: Waits, triesAtOnce: Bool = false) {
        self.refused = refused
        self.ended = ended
        self.triesAtOnce = triesAtOnce
    }

    /// For gpsd: a refusal means that there is none.
    package static let gpsd = Reconnect(
        refused: Waits(first: .seconds(5), limit: .seconds(60)), ended: Waits(first: .seconds(1), limit: .seconds(30)))

    /// For a feed that may be started by the same hand as the client: quicker, and cheap on a Unix socket.
    package static let feed = Reconnect(
        refused: Waits(first: .milliseconds(250), limit: .seconds(5)),
        ended: Waits(first: .milliseconds(250), limit: .seconds(5)), triesAtOnce: true)

    /// How many attempts in a row have come to nothing.
    package private(set) var failures = 0

    /// Notes a connection that sent what was expected of it.
    package mutating func worked() {
        failures = 0
        hasWorked = true
    }

    /// The wait that follows the end of a connection, or of an attempt.
    ///
    /// - Parameter lifetime: how long the connection stood; zero for an attempt that failed.
    package mutating func wait(afterLiving lifetime: Duration) -> Duration {
        if hasWorked && lifetime >= Self.steady { step = 0 }
        failures += 1
        defer { step += 1 }
        guard hasWorked || triesAtOnce else { return refused.wait(step) }
        return step == 0 ? .zero : (hasWorked ? ended : refused).wait(step - 1)
    }
}
