import DBus
import EventLoop

/// Asks polkit whether a caller may do what is not simply its own affair.
@ServiceActor
final class Polkit {
    private static let name: BusName = "org.freedesktop.PolicyKit1"
    private static let path: ObjectPath = "/org/freedesktop/PolicyKit1/Authority"
    private static let interface: InterfaceName = "org.freedesktop.PolicyKit1.Authority"

    /// How long polkit itself may take, and how long a person with a dialog.
    private static let timeout = Duration.seconds(20)
    private static let dialogTimeout = Duration.seconds(120)

    private typealias Subject = Structure<String, [String: Variant]>
    /// Whether it is allowed, whether it would be after a dialog, and details.
    private typealias Answer = Structure<Bool, Bool, [String: String]>

    private let connection: Connection
    private var lastCheck: UInt64 = 0

    init(_ connection: Connection) { self.connection = connection }

    /// Comes back if the caller may. Root always may, and nobody else where there is no polkit.
    ///
    /// - Throws: ``ServiceError/notAuthorized(action:)`` or ``ServiceError/interactionRequired(action:)``.
    func authorize(_ call: MethodCall, from peer: Peer, for action: String) async throws(ServiceError) {
        if peer.userID == 0 { return }
        lastCheck += 1
        let cancellation = "whereabouts-\(lastCheck)"
        let mayAsk = call.allowsInteractiveAuthorization
        let answer: Answer
        do {
            answer = try await connection.call(
                Self.name, Self.path, Self.interface, "CheckAuthorization",
                Subject("system-bus-name", ["name": Variant(.string(call.sender.string))]), action, [String: String](),
                UInt32(mayAsk ? 1 : 0), cancellation, returning: Answer.self,
                timeout: mayAsk ? Self.dialogTimeout : Self.timeout)
        } catch {
            if error.name == BusError.noReply.name { cancel(cancellation) }
            Log.info("polkit has no answer about \(action): \(error.name)")
            throw .notAuthorized(action: action)
        }
        let (isAuthorized, wouldAsk, _) = answer.fields
        if isAuthorized { return }
        throw wouldAsk && !mayAsk ? .interactionRequired(action: action) : .notAuthorized(action: action)
    }

    /// Takes the dialog away that nobody has answered.
    private func cancel(_ cancellation: String) {
        let message = Message.methodCall(to: Self.name, Self.path, Self.interface, "CancelCheckAuthorization")
        message.expectsReply = false
        try? message.append(cancellation)
        connection.send(message)
    }
}
