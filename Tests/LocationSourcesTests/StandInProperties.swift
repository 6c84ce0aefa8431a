import DBus
import EventLoop

/// An object of another service, as far as its properties go, which are what a test says.
@ServiceActor
final class StandInProperties: BusObject, ServedInterface {
    nonisolated let name: InterfaceName
    var values: [String: Variant]
    /// Whether it denies that there is such an interface.
    var isRefusing = false
    private(set) var readings = 0

    init(_ name: InterfaceName, _ values: [String: Variant] = [:]) {
        self.name = name
        self.values = values
    }

    var interfaces: [any ServedInterface] { isRefusing ? [] : [self] }

    func prepare(_ call: MethodCall, _ message: Message) throws(BusError) -> PreparedCall {
        throw .unknownMethod("there are properties only")
    }

    func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value {
        guard let value = values[name.string]?.value else { throw .invalidArguments("no such property") }
        readings += 1
        return value
    }

    func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError) {
        throw .accessDenied("read only")
    }

    func properties(for sender: BusName) -> [String: Variant] {
        readings += 1
        return values
    }

    func describe(in introspection: inout Introspection) {}
}
