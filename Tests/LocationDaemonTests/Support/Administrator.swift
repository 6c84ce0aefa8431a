import DBus
import DBusTestSupport
import EventLoop

@testable import LocationDaemon

/// Somebody at a command line, who sees and changes records.
@ServiceActor
final class Administrator {
    let connection: Connection
    private let changes: Listener

    init(_ connection: Connection) {
        self.connection = connection
        changes = Listener(connection, MatchRule(interface: WhereaboutsNames.control, member: "Changed"))
    }

    func set(_ app: String, _ record: [String: Value], interactive: Bool = false) async throws {
        _ = try await call("SetRecord", app, record.mapValues { Variant($0) }, interactive: interactive)
    }

    func set(_ app: String, _ decision: String) async throws { try await set(app, ["decision": .string(decision)]) }

    func remove(_ app: String, _ options: [String: Value] = [:]) async throws {
        _ = try await call("RemoveRecord", app, options.mapValues { Variant($0) }, interactive: false)
    }

    func list(_ filter: [String: Value] = [:], interactive: Bool = false) async throws -> [[String: Value]] {
        let message = Message.methodCall(
            to: WhereaboutsNames.controlBusName, WhereaboutsNames.controlPath, WhereaboutsNames.control, "ListRecords")
        message.allowsInteractiveAuthorization = interactive
        try message.append(filter.mapValues { Variant($0) })
        let reply = try await connection.call(message)
        return try reply.read(as: [[String: Variant]].self).map { $0.mapValues(\.value) }
    }

    func subscribe() async throws {
        _ = try await connection.call(
            Message.methodCall(
                to: WhereaboutsNames.controlBusName, WhereaboutsNames.controlPath, WhereaboutsNames.control,
                "Subscribe"))
    }

    /// The key of the next record that has changed.
    func nextChange() async throws -> String {
        try await changes.next().read(as: String.self, String.self).1
    }

    /// How `body` fails; `nil` if it does not.
    func error(_ body: () async throws -> Void) async -> BusError? {
        do {
            try await body()
            return nil
        } catch { return error as? BusError ?? .failed("\(error)") }
    }

    private func call(
        _ member: MemberName, _ app: String, _ entries: [String: Variant], interactive: Bool
    ) async throws -> Message {
        let message = Message.methodCall(
            to: WhereaboutsNames.controlBusName, WhereaboutsNames.controlPath, WhereaboutsNames.control, member)
        message.allowsInteractiveAuthorization = interactive
        try message.append(app, entries)
        return try await connection.call(message)
    }
}
