/// A method call that has arrived, as its handler sees it.
///
/// Without the message itself: libdbus stops reading when received messages of 8 MiB are alive, and a handler may wait
/// for a person.
package struct MethodCall: Sendable {
    /// The connection that called, by the bus's word.
    package let sender: BusName
    package let path: ObjectPath
    package let interface: InterfaceName
    package let member: MemberName
    /// Whether the caller has said that a person may be asked before it gets its reply.
    package let allowsInteractiveAuthorization: Bool

    let serial: UInt32
    let expectsReply: Bool

    /// What the arguments of one call may take in memory, in bytes.
    package static let sizeLimit = 64 << 10
}
