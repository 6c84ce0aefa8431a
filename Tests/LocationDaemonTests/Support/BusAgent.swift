import DBus
import EventLoop
import GeoClueAPI
import Geolocation

/// An agent on the bus that does what a test tells it to, lies included.
@ServiceActor
final class BusAgent: BusObject {
    enum Behaviour {
        case allows(UInt32)
        case refuses
        /// Does not answer before ``BusAgent/answer(_:)``.
        case hangs
        /// Answers with an error.
        case fails
    }

    static let interface = Interface<BusAgent>(GeoClueNames.agent) {
        Method(
            "AuthorizeApp", "desktop_id", "req_accuracy_level", returns: "authorized", "allowed_accuracy_level",
            access: .anyone,
            body: BusAgent.authorizeApp)
        Property("MaxAccuracyLevel", access: .anyone) { $0.ceiling.rawValue }
    }

    let connection: Connection
    private(set) var ceiling: AccuracyLevel
    var behaviour = Behaviour.allows(8)
    private(set) var asked: [String] = []
    private var hanging: [CheckedContinuation<Bool, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    init(_ connection: Connection, ceiling: AccuracyLevel) {
        self.connection = connection
        self.ceiling = ceiling
        connection.objects.add(self, at: GeoClueNames.agentPath)
    }

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    func register(_ id: String) async throws {
        let message = Message.methodCall(
            to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "AddAgent")
        try message.append(id)
        _ = try await connection.call(message)
    }

    func authorizeApp(_ call: MethodCall, id: String, level: UInt32) async throws -> (Bool, UInt32) {
        asked.append(id)
        for watcher in watchers { watcher.resume() }
        watchers = []
        switch behaviour {
        case .allows(let level): return (true, level)
        case .refuses: return (false, 0)
        case .fails: throw BusError.failed("no mood")
        case .hangs:
            return (await withCheckedContinuation { hanging.append($0) }, 8)
        }
    }

    /// Answers the oldest question that it hangs over.
    func answer(_ isAllowed: Bool) { hanging.removeFirst().resume(returning: isAllowed) }

    /// Comes back when it has been asked so many times in all.
    func questions(_ count: Int) async {
        while asked.count < count { await withCheckedContinuation { watchers.append($0) } }
    }

    func limit(to ceiling: AccuracyLevel) {
        self.ceiling = ceiling
        connection.propertyChanged(
            "MaxAccuracyLevel", of: self, at: GeoClueNames.agentPath, in: Self.interface, to: nil)
    }

    /// Leaves the bus.
    func leave() { connection.close() }
}
