import Authorization
import DBus
import EventLoop

/// The connections that use the service, from their first call until they leave the bus.
@ServiceActor
final class PeerDirectory {
    /// Called when a connection that was known has left.
    var onDeparture: (@ServiceActor (BusName) -> Void)?

    private let connection: Connection

    private struct Entry {
        let lookup: Task<Peer, any Error>
        let watch: Subscription
    }

    private var entries: [BusName: Entry] = [:]
    private var known: [BusName: Peer] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// Who a caller is. Calls that come while this is being found out share one lookup.
    ///
    /// - Throws: ``ServiceError/callerGone``.
    func peer(_ name: BusName) async throws -> Peer {
        if let peer = known[name] { return peer }
        let entry = entries[name] ?? follow(name)
        return try await entry.lookup.value
    }

    private func follow(_ name: BusName) -> Entry {
        // Followed before it is looked up: a departure in between shows as one or the other.
        let watch = connection.watchOwner(of: name) { [weak self] owner in
            if owner == nil { self?.forget(name) }
        }
        let lookup = Task.immediate { [connection] in
            do {
                let credentials = try await connection.credentials(of: name)
                let peer = Peer(
                    name: name, credentials: credentials, origin: ProcessOrigin(ProcessFacts(of: credentials)))
                guard entries[name] != nil else { throw ServiceError.callerGone }
                known[name] = peer
                return peer
            } catch {
                forget(name)
                throw ServiceError.callerGone
            }
        }
        let entry = Entry(lookup: lookup, watch: watch)
        entries[name] = entry
        return entry
    }

    private func forget(_ name: BusName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        entry.watch.cancel()
        if known.removeValue(forKey: name) != nil { onDeparture?(name) }
    }
}
