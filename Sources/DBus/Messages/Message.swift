internal import CDBus
import EventLoop

/// One D-Bus message, holding one reference to the underlying `DBusMessage`.
///
/// libdbus counts references atomically, and a message is not changed once it has been sent or received. One thread at
/// a time reads it.
package final class Message: @unchecked Sendable {
    package enum Kind: Int32, Sendable {
        case methodCall = 1, methodReturn, error, signal
    }

    let pointer: OpaquePointer
    private let isReceived: Bool

    /// What a ``MessageReader`` may still take, in bytes of memory.
    var readingBudget = 0
    /// What ``MessageWriter``s have appended: an upper bound of the body's length, and the descriptors in it.
    var writtenSize = 0
    var writtenDescriptors = 0

    /// Takes over a reference the caller owns, as returned by `dbus_message_new_*`.
    ///
    /// - Parameter isReceived: whether it counts towards what a connection has unread.
    init(adopting pointer: OpaquePointer, isReceived: Bool = false) {
        self.pointer = pointer
        self.isReceived = isReceived
    }

    deinit {
        // libdbus may go on reading the socket once a received message is gone, which is the loop's business.
        if isReceived, EventLoop.shared.isIsolatingCurrentContext() != true {
            nonisolated(unsafe) let pointer = pointer
            ServiceActor.task { dbus_message_unref(pointer) }
        } else {
            dbus_message_unref(pointer)
        }
    }

    // MARK: Making

    /// - Parameter interface: `nil` leaves it to the callee which of its interfaces is meant.
    package static func methodCall(
        to destination: BusName, _ path: ObjectPath, _ interface: InterfaceName?, _ member: MemberName
    ) -> Message {
        adopt(dbus_message_new_method_call(destination.string, path.string, interface?.string, member.string))
    }

    /// - Parameter destination: the one peer that gets it; `nil` for everyone who listens.
    package static func signal(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, to destination: BusName?
    ) -> Message {
        let message = adopt(dbus_message_new_signal(path.string, interface.string, member.string))
        if let destination { dbus_message_set_destination(message.pointer, destination.string) }
        return message
    }

    /// The same header and body once more, to be sent as a message of its own.
    func copy() -> Message { Self.adopt(dbus_message_copy(pointer)) }

    /// The reply to the call that `caller` sent under `serial`, still without results.
    static func methodReturn(to caller: BusName, serial: UInt32) -> Message {
        let message = adopt(dbus_message_new(Kind.methodReturn.rawValue))
        message.setReply(to: caller, serial: serial)
        return message
    }

    static func error(_ error: BusError, to caller: BusName, serial: UInt32) -> Message {
        let message = adopt(dbus_message_new(Kind.error.rawValue))
        message.setReply(to: caller, serial: serial)
        dbus_message_set_error_name(message.pointer, error.name.string)
        // A text that D-Bus cannot carry is left out; the name is what a program goes by.
        try? message.append(error.message)
        return message
    }

    private func setReply(to caller: BusName, serial: UInt32) {
        dbus_message_set_destination(pointer, caller.string)
        dbus_message_set_reply_serial(pointer, serial)
        expectsReply = false
    }

    private static func adopt(_ pointer: OpaquePointer?) -> Message {
        // libdbus returns NULL only where memory has run out, and Swift itself would have ended the process there.
        Message(adopting: pointer!)
    }

    /// Appends `values` to the body.
    package func append<each T: DBusType>(_ values: repeat each T) throws(WriteError) {
        let writer = MessageWriter(appendingTo: self)
        for value in repeat each values { try value.write(to: writer) }
    }

    package func append(_ value: Value) throws(WriteError) {
        try value.expectSingleType()
        try MessageWriter(appendingTo: self).writeValue(value)
    }

    // MARK: Header

    package var kind: Kind? { Kind(rawValue: dbus_message_get_type(pointer)) }
    /// `nil` only in messages that no bus has passed on.
    package var sender: BusName? { dbus_message_get_sender(pointer).map { BusName(trusted: String(cString: $0)) } }
    package var path: ObjectPath? { dbus_message_get_path(pointer).map { ObjectPath(trusted: String(cString: $0)) } }
    package var interface: InterfaceName? {
        dbus_message_get_interface(pointer).map { InterfaceName(trusted: String(cString: $0)) }
    }
    package var member: MemberName? {
        dbus_message_get_member(pointer).map { MemberName(trusted: String(cString: $0)) }
    }
    package var errorName: ErrorName? {
        dbus_message_get_error_name(pointer).map { ErrorName(trusted: String(cString: $0)) }
    }
    package var signature: Signature { Signature(trusted: String(cString: dbus_message_get_signature(pointer))) }
    func isSignal(_ interface: InterfaceName, _ member: StaticString) -> Bool {
        member.withUTF8Buffer { member in
            member.withMemoryRebound(to: CChar.self) {
                dbus_message_is_signal(pointer, interface.string, $0.baseAddress) != 0
            }
        }
    }

    func hasSignature(_ signature: Signature) -> Bool { dbus_message_has_signature(pointer, signature.string) != 0 }
    var serial: UInt32 { dbus_message_get_serial(pointer) }
    var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }

    package var expectsReply: Bool {
        get { dbus_message_get_no_reply(pointer) == 0 }
        set { dbus_message_set_no_reply(pointer, newValue ? 0 : 1) }
    }

    /// Whether the caller has said that a person may be asked before it gets its reply.
    package var allowsInteractiveAuthorization: Bool {
        get { dbus_message_get_allow_interactive_authorization(pointer) != 0 }
        set { dbus_message_set_allow_interactive_authorization(pointer, newValue ? 1 : 0) }
    }

    // MARK: Body

    /// Reads the first values of the body.
    ///
    /// - Parameter sizeLimit: what they may take in memory, in bytes; beyond, ``ReadError/tooLarge``.
    package func read<each T: DBusType>(
        as types: repeat (each T).Type, sizeLimit: Int = MessageReader.sizeLimit
    ) throws(ReadError) -> (repeat each T) {
        var reader = MessageReader(self, sizeLimit: sizeLimit)
        return (repeat try (each T).read(from: &reader))
    }

    /// Reads the body, which is to hold these values and no more.
    func readWhole<each T: DBusType>(as types: repeat (each T).Type) throws(ReadError) -> (repeat each T) {
        var expected = ""
        for type in repeat each types { expected += type.signature.string }
        guard hasSignature(Signature(trusted: expected)) else {
            throw .unexpectedType(expected: Signature(trusted: expected), found: signature)
        }
        return try read(as: repeat each types)
    }

    /// The whole body, whatever its type.
    package func readValues() throws(ReadError) -> [Value] {
        var reader = MessageReader(self)
        var values: [Value] = []
        while reader.hasMore { values.append(try reader.readValue()) }
        return values
    }
}
