import Authorization
import DBus
import EventLoop

/// The connections that use the service, from their first call until they leave the bus.
@ServiceActor
final class PeerDirectory {
    /// Called when a connection that was known has left.
    var onDeparture: (@ServiceActor (BusName) -> Void)?

    private typealias Waiting = CheckedContinuation<Peer?, Never>

    private enum State {
        case lookingUp([Waiting])
        case known(Peer)
    }

    private struct Entry {
        var state: State
        let watch: Subscription
    }

    private let connection: Connection
    private let identify: Identification
    private var entries: [BusName: Entry] = [:]

    init(_ connection: Connection, identify: @escaping Identification) {
        self.connection = connection
        self.identify = identify
    }

    /// Who a caller is. Calls that come while this is being found out share one lookup.
    ///
    /// - Throws: ``ServiceError/callerGone``.
    func peer(_ name: BusName) async throws(ServiceError) -> Peer {
        if case .known(let peer)? = entries[name]?.state { return peer }
        if entries[name] == nil { follow(name) }
        let found = await withCheckedContinuation { (waiting: Waiting) in
            switch entries[name]?.state {
            case .known(let peer)?: waiting.resume(returning: peer)
            case .lookingUp(let others)?: entries[name]?.state = .lookingUp(others + [waiting])
            case nil: waiting.resume(returning: nil)
            }
        }
        guard let found else { throw .callerGone }
        return found
    }

    private func follow(_ name: BusName) {
        // Followed before it is looked up: a departure in between shows as one or the other.
        let watch = connection.watchOwner(of: name) { [weak self] owner in
            if owner == nil { self?.forget(name) }
        }
        entries[name] = Entry(state: .lookingUp([]), watch: watch)
        ServiceActor.start { [self] in
            guard let peer = try? await identify(connection, name) else { return forget(name) }
            found(peer)
        }
    }

    private func found(_ peer: Peer) {
        guard case .lookingUp(let waiting)? = entries[peer.name]?.state else { return }
        entries[peer.name]?.state = .known(peer)
        for each in waiting { each.resume(returning: peer) }
    }

    private func forget(_ name: BusName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        entry.watch.cancel()
        switch entry.state {
        case .lookingUp(let waiting): for each in waiting { each.resume(returning: nil) }
        case .known: onDeparture?(name)
        }
    }
}
