import DBus
import EventLoop

/// Follows what NetworkManager says of the machine's connections, as long as there is a NetworkManager. Never starts it.
@ServiceActor
final class NetworkManagerFollower {
    /// What it says; `nil` while it is not there, or does not answer.
    private(set) var connections: ManagedConnections? {
        didSet { if connections != oldValue { onChange?() } }
    }

    var onChange: (@ServiceActor () -> Void)?

    private static let manager: BusName = "org.freedesktop.NetworkManager"
    private static let path: ObjectPath = "/org/freedesktop/NetworkManager"
    private static let interface: InterfaceName = "org.freedesktop.NetworkManager"
    private static let activeConnection: InterfaceName = "org.freedesktop.NetworkManager.Connection.Active"

    /// However much it has to say, it is asked once in this time.
    private static let rest = Duration.milliseconds(500)
    private static let patience = Duration.seconds(5)
    /// When it is asked again after it has not answered.
    private static let retry = Duration.seconds(60)

    private let connection: Connection
    private let clock: any Clock
    private var ownerWatch: Subscription?
    private var signals: [Subscription] = []
    private var owner: BusName?
    private var nextReading: Timer?
    /// Which reading is under way; answers to one before it count no more.
    private var reading = 0
    private var isReading = false
    private var complaint = Complaint()

    init(_ connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
        ownerWatch = connection.followOwner(of: Self.manager) { [weak self] in self?.ownerChanged($0) }
    }

    private func ownerChanged(_ name: BusName?) {
        guard name != owner else { return }
        (owner, signals, nextReading) = (name, [], nil)
        reading += 1
        isReading = false
        guard let name else { return connections = nil }
        signals = [Self.interface, Self.activeConnection].map { interface in
            let rule = MatchRule.propertiesChanged(of: interface, from: name)
            return connection.subscribe(to: rule) { [weak self] _ in self?.readSoon() }
        }
        read()
    }

    private func readSoon() {
        guard nextReading == nil else { return }
        readAgain(in: Self.rest)
    }

    private func readAgain(in delay: Duration) {
        nextReading = clock.after(delay) { [weak self] in
            guard let self else { return }
            nextReading = nil
            // One that takes its time is followed by another one.
            if isReading { readSoon() } else { read() }
        }
    }

    private func read() {
        guard let owner else { return }
        reading += 1
        isReading = true
        ServiceActor.start { [weak self, reading] in
            let result = await self?.ask(owner)
            guard let self, self.reading == reading, let result else { return }
            isReading = false
            take(result)
        }
    }

    private func take(_ result: Result<ManagedConnections, BusError>) {
        switch result {
        case .success(let found):
            complaint.settle("NetworkManager says again how the machine is connected")
            connections = found
        case .failure(let error):
            complaint.raise("NetworkManager does not say how the machine is connected: \(error.message)")
            connections = nil
            if nextReading == nil { readAgain(in: Self.retry) }
        }
    }

    private func ask(_ owner: BusName) async -> Result<ManagedConnections, BusError> {
        do throws(BusError) {
            let entries = try await properties(of: Self.interface, at: Self.path, owner)
            guard var found = ManagedConnections(entries) else { throw .failed("its answer has no state") }
            for path in found.active where !found.isTunnelled {
                do throws(BusError) {
                    let entries = try await properties(of: Self.activeConnection, at: path, owner)
                    found.isTunnelled = ManagedConnections.isDefaultTunnel(entries)
                } catch {
                    // One that has just ended says nothing; a manager that hangs would say nothing for each.
                    if error == .noReply { throw error }
                }
            }
            return .success(found)
        } catch {
            return .failure(error)
        }
    }

    private func properties(
        of interface: InterfaceName, at path: ObjectPath, _ owner: BusName
    ) async throws(BusError) -> [String: Variant] {
        try await connection.call(
            owner, path, .properties, "GetAll", interface.string, returning: [String: Variant].self,
            timeout: Self.patience)
    }
}
