import DBus
import DBusTestSupport
import EventLoop
import Testing

/// A call of a ``TestObject`` that is refused, and how.
struct RefusedCall: Sendable, CustomTestStringConvertible {
    let what: String
    var path = Self.path
    var interface = Self.interface
    let member: String
    var arguments: [Value] = []
    let error: BusError

    var testDescription: String { what }

    static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    static let path = "/org/example/Object"
    static let interface = "org.example.Test"
    static let properties = "org.freedesktop.DBus.Properties"

}

extension RefusedCall {
    static let all = [
        Self(
            what: "an unknown path", path: "/org/example/Nothing", member: "Add",
            error: BusError(unknownMethod, "Object does not exist at path “/org/example/Nothing”")),
        Self(
            what: "a path below an object", path: path + "/Child", member: "Add",
            error: BusError(unknownMethod, "Object does not exist at path “/org/example/Object/Child”")),
        Self(
            what: "Peer at an unknown path", path: "/nothing", interface: "org.freedesktop.DBus.Peer", member: "Ping",
            error: BusError(unknownMethod, "Object does not exist at path “/nothing”")),
        Self(
            what: "an unknown interface", interface: "org.example.Other", member: "Add",
            error: BusError(
                unknownMethod, "No such interface “org.example.Other” on object at path /org/example/Object")),
        Self(
            what: "an unknown method", member: "Nope", error: BusError(unknownMethod, "No such method “Nope”")),
        Self(
            what: "a property's name as a method", member: "Name",
            error: BusError(unknownMethod, "No such method “Name”")),
        Self(
            what: "a wrong signature", member: "Add", arguments: [.double(1)],
            error: BusError(invalidArguments, "Type of message, “(d)”, does not match expected type “(dd)”")),
        Self(
            what: "an argument too many", member: "Fail", arguments: [.string("x")],
            error: BusError(invalidArguments, "Type of message, “(s)”, does not match expected type “()”")),
        Self(
            what: "arguments of more than 64 KiB", member: "Note",
            arguments: [.string(String(repeating: "x", count: MethodCall.sizeLimit))],
            error: .limitsExceeded("the message is too large")),
        Self(what: "a row that refuses the sender", member: "Refused", error: .accessDenied("not you")),
        Self(
            what: "a row that refuses after finding out", member: "RefusedLater",
            error: .accessDenied("not you, on reflection")),
        Self(
            what: "Get of an unknown property", interface: properties, member: "Get",
            arguments: [.string(interface), .string("Nope")],
            error: BusError(invalidArguments, "No such property “Nope”")),
        Self(
            what: "Get of what cannot be a property", interface: properties, member: "Get",
            arguments: [.string(interface), .string("not a name")],
            error: BusError(invalidArguments, "No such property “not a name”")),
        Self(
            what: "Get on an unknown interface", interface: properties, member: "Get",
            arguments: [.string("org.example.Other"), .string("Name")],
            error: BusError(invalidArguments, "No such interface “org.example.Other”")),
        Self(
            what: "GetAll on what cannot be an interface", interface: properties, member: "GetAll",
            arguments: [.string("")], error: BusError(invalidArguments, "No such interface “”")),
        Self(
            what: "Get of a property that the sender may not read", interface: properties, member: "Get",
            arguments: [.string(interface), .string("Secret")], error: .accessDenied("Access denied")),
        Self(
            what: "Set of a read-only property", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Version"), .variant(.uint32(1))],
            error: BusError(invalidArguments, "Property “Version” is not writable")),
        Self(
            what: "Set to a wrong type", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Level"), .variant(.string("1"))],
            error: BusError(invalidArguments, "Error setting property “Level”: Expected type “u” but got “s”")),
        Self(
            what: "Set to a value that the object refuses", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Level"), .variant(.uint32(9))],
            error: BusError(invalidArguments, "there is no such level")),
        Self(
            what: "Set to a wrong type by a stranger: the type comes first", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Secret"), .variant(.uint32(1))],
            error: BusError(invalidArguments, "Error setting property “Secret”: Expected type “s” but got “u”")),
        Self(
            what: "Set by a stranger", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Secret"), .variant(.string("known"))],
            error: .accessDenied("Access denied")),
        Self(
            what: "Set with three strings", interface: properties, member: "Set",
            arguments: [.string(interface), .string("Level"), .string("1")],
            error: BusError(
                unknownMethod,
                "No such interface “org.freedesktop.DBus.Properties” on object at path /org/example/Object")),
    ]
}

@Suite(.timeLimit(.minutes(1)))
struct RefusedCallTests {
    init() { EventLoop.startThread() }

    @Test("what is not there or not allowed is refused by name and text", arguments: RefusedCall.all)
    @ServiceActor
    func refusals(refused: RefusedCall) async throws {
        let service = try await TestService()
        let message = Message.methodCall(
            to: service.server.uniqueName, ObjectPath(trusted: refused.path), InterfaceName(trusted: refused.interface),
            MemberName(trusted: refused.member))
        for argument in refused.arguments { try message.append(argument) }

        let failure = await service.failure { () throws(BusError) in _ = try await service.client.call(message) }

        #expect(failure == refused.error)
        #expect(service.object.secret == "hidden")
        #expect(service.object.notes.isEmpty)
    }
}
