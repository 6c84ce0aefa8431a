import DBus
import EventLoop

/// The signals that fit a rule, in order.
@ServiceActor
package final class Listener {
    private let arrived = Events<Message>()
    private let subscription: Subscription

    package init(_ connection: Connection, _ rule: MatchRule) {
        subscription = connection.subscribe(to: rule) { [arrived] in arrived.add($0) }
    }

    /// How many have come that nobody has taken yet.
    package var count: Int { arrived.count }

    /// The next signal.
    package func next() async throws -> Message { try await arrived.next() }
}

extension Connection {
    /// Comes back once the bus has dealt with everything that was sent before, and all that it had sent has arrived.
    package func settle() async throws { _ = try await callBus("GetId", returning: String.self) }

    /// How many match rules this connection has, by the bus's count.
    package func ruleCount() async throws -> Int {
        let statistics = try await call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", uniqueName.string,
            returning: [String: Variant].self)
        guard case .uint32(let count)? = statistics["MatchRules"]?.value else { return 0 }
        return Int(count)
    }
}
