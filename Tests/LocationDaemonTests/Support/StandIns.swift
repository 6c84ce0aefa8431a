import DBus
import DBusTestSupport
import EventLoop

/// polkit, as far as the service asks it.
@ServiceActor
final class PolicyKit: BusObject {
    typealias Subject = Structure<String, [String: Variant]>

    struct Check: Equatable {
        let kind: String
        let name: Value?
        let action: String
        let flags: UInt32
    }

    enum Verdict { case yes, no, afterDialog }

    static let interface = Interface<PolicyKit>("org.freedesktop.PolicyKit1.Authority") {
        Method(
            "CheckAuthorization", "subject", "action", "details", "flags", "cancellation", returns: "result",
            access: .anyone, body: PolicyKit.checkAuthorization)
    }

    private let connection: Connection
    var verdict = Verdict.no
    private(set) var checks: [Check] = []

    init(_ connection: Connection) async throws {
        self.connection = connection
        connection.objects.add(self, at: "/org/freedesktop/PolicyKit1/Authority")
        try await connection.takeName("org.freedesktop.PolicyKit1")
    }

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    func checkAuthorization(
        _ call: MethodCall, subject: Subject, action: String, details: [String: String], flags: UInt32,
        cancellation: String
    ) -> Structure<Bool, Bool, [String: String]> {
        let (kind, entries) = subject.fields
        checks.append(Check(kind: kind, name: entries["name"]?.value, action: action, flags: flags))
        let isAllowed = verdict == .yes || verdict == .afterDialog && flags & 1 == 1
        return Structure(isAllowed, verdict == .afterDialog && !isAllowed, [:])
    }
}
