/// A row of an interface: a signal and the names of its arguments.
package struct Signal: Sendable {
    package let name: MemberName
    let arguments: [Argument]

    package init<each T: DBusType>(_ name: MemberName, _ arguments: String..., of types: repeat (each T).Type) {
        var signatures: [Signature] = []
        repeat signatures.append((each T).signature)
        self.name = name
        self.arguments = Argument.list(arguments, signatures)
    }
}
