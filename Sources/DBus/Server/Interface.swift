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

    func method(_ name: MemberName) -> Method<Owner>? { methodIndex[name].map { methods[$0] } }

    func property(_ name: MemberName) -> Property<Owner>? { propertyIndex[name].map { properties[$0] } }
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
