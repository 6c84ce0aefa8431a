/// A method call that has arrived, as its handler sees it.
package struct MethodCall: Sendable {
    package let message: Message
    /// The connection that called, by the bus's word.
    package let sender: BusName
    package let path: ObjectPath
    package let interface: InterfaceName
    package let member: MemberName

    package var allowsInteractiveAuthorization: Bool { message.allowsInteractiveAuthorization }
}
