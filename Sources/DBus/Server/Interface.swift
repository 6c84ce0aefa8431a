import EventLoop

/// A declared interface: its rows, in the order of the XML file that describes it. Made once and shared.
///
/// Introspection, dispatch and the signatures come from the rows alone.
package final class Interface<Owner>: Sendable {
    package let name: InterfaceName
    let methods: [Method<Owner>]
    let properties: [Property<Owner>]
    let signals: [Signal]
    private let methodIndex: [MemberName: Int]
    private let propertyIndex: [MemberName: Int]

    package init(_ name: InterfaceName, @InterfaceBuilder<Owner> _ rows: () -> [InterfaceRow<Owner>]) {
        self.name = name
        var methods: [Method<Owner>] = []
        var properties: [Property<Owner>] = []
        var signals: [Signal] = []
        for row in rows() {
            switch row {
            case .method(let method): methods.append(method)
            case .property(let property): properties.append(property)
            case .signal(let signal): signals.append(signal)
            }
        }
        self.methods = methods
        self.properties = properties
        self.signals = signals
        methodIndex = Dictionary(uniqueKeysWithValues: methods.enumerated().map { ($1.name, $0) })
        propertyIndex = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
    }

    /// The row that a call is for.
    func method(for call: MethodCall, _ message: Message) throws(BusError) -> Method<Owner> {
        guard let index = methodIndex[call.member] else { throw .unknownMethod("No such method “\(call.member)”") }
        let method = methods[index]
        guard message.hasSignature(method.signature) else {
            // What GDBus says, which knows the methods of this one interface by their signatures.
            guard name != .properties else { throw .noSuchInterface(name, at: call.path) }
            throw .invalidArguments(
                "Type of message, “(\(message.signature))”, does not match expected type “(\(method.signature))”")
        }
        return method
    }

    func property(_ name: MemberName) throws(BusError) -> Property<Owner> {
        guard let index = propertyIndex[name] else { throw .invalidArguments("No such property “\(name)”") }
        return properties[index]
    }

    /// The row of a property that can be set, to a value of this type, and what sets it.
    func property(
        _ name: MemberName, settableTo value: Value
    ) throws(BusError) -> (Property<Owner>, Property<Owner>.Setter) {
        let property = try property(name)
        guard let set = property.set else { throw .invalidArguments("Property “\(name)” is not writable") }
        guard value.signature == property.type else {
            throw .invalidArguments(
                "Error setting property “\(name)”: Expected type “\(property.type)” but got “\(value.signature)”")
        }
        return (property, set)
    }
}

package enum InterfaceRow<Owner>: Sendable {
    case method(Method<Owner>)
    case property(Property<Owner>)
    case signal(Signal)
}

@resultBuilder
package enum InterfaceBuilder<Owner> {
    package static func buildExpression(_ method: Method<Owner>) -> InterfaceRow<Owner> { .method(method) }
    package static func buildExpression(_ property: Property<Owner>) -> InterfaceRow<Owner> { .property(property) }
    package static func buildExpression(_ signal: Signal) -> InterfaceRow<Owner> { .signal(signal) }
    package static func buildBlock(_ rows: InterfaceRow<Owner>...) -> [InterfaceRow<Owner>] { rows }
}
