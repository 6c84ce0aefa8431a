import EventLoop
import Positioning

/// A receiver's stream from an address: connected again and again from ``start()`` to ``stop()``.
@ServiceActor
final class NMEAFeed {
    var report: (@ServiceActor (SourceReport) -> Void)?
    /// Called after each connection, or attempt at one, that has ended. It goes on by itself if it is not stopped.
    var onEnd: (@ServiceActor () -> Void)?
    /// What the log says of the address; for the next feed from there to go on with.
    var complaint = Complaint()

    private let name: String
    private let address: StreamAddress
    private let accuracyFloor: Double
    private let isForeign: Bool
    private let clock: any Clock

    /// What exists only while it runs.
    private var session: Session?

    private struct Session {
        let receiver: NMEAReceiver
        var connection: StreamConnection?
        var connectedAt = Duration.zero
        var reconnect = Reconnect.feed
        var retry: Timer?
        var flow = FlowLimit()
    }

    /// - Parameters:
    ///   - name: what its fixes bear as ``Fix/source``.
    ///   - accuracyFloor: radius in metres below which none of its fixes is believed.
    ///   - isForeign: whether a stranger is at the other end.
    init(
        _ name: String, from address: StreamAddress, accuracyFloor: Double = 0, isForeign: Bool = false,
        clock: any Clock
    ) {
        self.name = name
        self.address = address
        self.accuracyFloor = accuracyFloor
        self.isForeign = isForeign
        self.clock = clock
    }

    func start() {
        guard session == nil else { return }
        let receiver = NMEAReceiver(name, accuracyFloor: accuracyFloor, isForeign: isForeign, clock: clock) {
            [weak self] in self?.report?($0)
        }
        receiver.onLife = { [weak self] in
            guard let self else { return }
            complaint.settle("\(name): \(address): there again")
        }
        session = Session(receiver: receiver)
        connect()
    }

    func stop() {
        session?.receiver.stop()
        session?.connection?.close()
        session = nil
    }

    private func connect() {
        session?.receiver.begin()
        session?.connectedAt = clock.now
        session?.connection = StreamConnection(to: address, clock: clock) { [weak self] in self?.handle($0) }
    }

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .connected:
            Log.debug("\(name): connected to \(address)")
        case .received(let bytes):
            if isForeign, session?.flow.take(bytes.count, at: clock.now) == false {
                session?.connection?.close()
                return ended(.tooMuch)
            }
            session?.reconnect.worked()
            session?.receiver.received(bytes)
        case .ended(let end):
            ended(end)
        }
    }

    private func ended(_ end: StreamConnection.End) {
        guard var session else { return }
        complaint.raise("\(name): \(address): \(end); trying again until nobody needs it")
        let wait = session.reconnect.wait(afterLiving: clock.now - session.connectedAt)
        session.connection = nil
        session.retry = clock.after(wait) { [weak self] in self?.connect() }
        self.session = session
        onEnd?()
    }
}
