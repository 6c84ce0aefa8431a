/// A signal that goes out again and again from one object to the same peer, with the same first arguments.
///
/// Of a small message libdbus spends more time on the fields of the header than on the body; here they are written once.
package struct SignalTemplate: Sendable {
    private let beginning: Message

    /// - Parameters:
    ///   - destination: the one peer that gets it; `nil` for everyone who listens.
    ///   - values: the first arguments. The others come with each signal.
    package init<each T: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, to destination: BusName?,
        beginningWith values: repeat each T
    ) throws(WriteError) {
        beginning = .signal(path, interface, member, to: destination)
        try beginning.append(repeat each values)
    }

    /// A new message that begins so.
    func message() -> Message { beginning.copy() }
}
