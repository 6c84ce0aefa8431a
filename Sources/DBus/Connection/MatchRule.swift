/// Which signals the bus passes on to us (D-Bus specification, “Match Rules”). `nil` matches anything.
package struct MatchRule: Sendable, Hashable {
    package var sender: BusName?
    package var path: ObjectPath?
    package var interface: InterfaceName?
    package var member: MemberName?
    package var argument0: String?

    package init(
        sender: BusName? = nil, path: ObjectPath? = nil, interface: InterfaceName? = nil, member: MemberName? = nil,
        argument0: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument0 = argument0
    }

    /// Changes of properties of one interface, or of any.
    ///
    /// - Parameter path: of the object that has them; `nil` for all objects.
    package static func propertiesChanged(
        of interface: InterfaceName?, at path: ObjectPath? = nil, from sender: BusName?
    ) -> MatchRule {
        MatchRule(
            sender: sender, path: path, interface: .properties, member: .propertiesChanged,
            argument0: interface?.string)
    }

    /// The rule in the bus's own form.
    package var text: String {
        var text = "type='signal'"
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            // Inside quotes only the quote itself is special: close, escape it, open again.
            text +=
                ",\(key)='" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
                + "'"
        }
        add("sender", sender?.string)
        add("path", path?.string)
        add("interface", interface?.string)
        add("member", member?.string)
        add("arg0", argument0)
        return text
    }

    /// Whether a signal that has arrived fits. `sender` has to be a unique name here, or the bus itself.
    func matches(_ signal: Message) -> Bool {
        func fits<T: Equatable>(_ wanted: T?, _ found: @autoclosure () -> T?) -> Bool {
            wanted == nil || wanted == found()
        }
        return fits(member, signal.member) && fits(interface, signal.interface) && fits(path, signal.path)
            && fits(sender, signal.sender) && fits(argument0, try? signal.read(as: String.self))
    }
}
