import EventLoop
import Glibc

/// The interfaces that every object has (D-Bus specification, “Standard Interfaces”).
@ServiceActor
enum StandardInterfaces {
    static let propertiesInterface = Interface<ServedPath>(.properties) {
        Method(
            "Get", "interface_name", "property_name", returns: "value", access: .anyone, body: ServedPath.getProperty)
        Method("GetAll", "interface_name", returns: "properties", access: .anyone, body: ServedPath.getAllProperties)
        Method("Set", "interface_name", "property_name", "value", access: .anyone, body: ServedPath.setProperty)
        Signal(
            "PropertiesChanged", "interface_name", "changed_properties", "invalidated_properties", of: String.self,
            [String: Variant].self, [String].self)
    }

    nonisolated static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
    nonisolated static let peer: InterfaceName = "org.freedesktop.DBus.Peer"

    static let introspectableInterface = Interface<ServedPath>(introspectable) {
        Method("Introspect", returns: "xml_data", access: .anyone, body: ServedPath.introspect)
    }

    static let peerInterface = Interface<ServedPath>(peer) {
        Method("Ping", access: .anyone, body: ServedPath.ping)
        Method("GetMachineId", returns: "machine_uuid", access: .anyone, body: ServedPath.machineID)
    }
}

/// A path as one caller sees it: the object there, if any, and the standard interfaces over it.
@ServiceActor
struct ServedPath {
    let tree: ObjectTree
    let path: ObjectPath
    let object: (any BusObject)?
    let sender: BusName

    /// The nodes right below, looked up anew each time.
    var children: [String] { tree.children(of: path, for: sender) }

    func interface(_ name: InterfaceName) -> (any ServedInterface)? {
        switch name {
        case InterfaceName.properties: Bound(StandardInterfaces.propertiesInterface, to: self)
        case StandardInterfaces.introspectable: Bound(StandardInterfaces.introspectableInterface, to: self)
        case StandardInterfaces.peer: Bound(StandardInterfaces.peerInterface, to: self)
        default: object?.interfaces.first { $0.name == name }
        }
    }

    func getProperty(_ call: MethodCall, interface: String, property: String) throws -> Variant {
        Variant(try ownInterface(interface).getProperty(member(property), for: call.sender))
    }

    func getAllProperties(_ call: MethodCall, interface: String) throws -> [String: Variant] {
        try ownInterface(interface).properties(for: call.sender)
    }

    func setProperty(_ call: MethodCall, interface: String, property: String, value: Variant) throws {
        try ownInterface(interface).setProperty(member(property), to: value.value, for: call.sender)
    }

    func introspect(_ call: MethodCall) -> String {
        var document = Introspection()
        for interface in object?.interfaces ?? [] { interface.describe(in: &document) }
        document.add(StandardInterfaces.propertiesInterface)
        document.add(StandardInterfaces.introspectableInterface)
        document.add(StandardInterfaces.peerInterface)
        for child in children { document.add(child: child) }
        return document.finish()
    }

    func ping(_ call: MethodCall) {}

    func machineID(_ call: MethodCall) throws -> String {
        for file in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let id = firstLine(of: file), id.utf8.count == 32 { return id }
        }
        throw BusError.failed("this machine has no machine-id")
    }

    private func ownInterface(_ name: String) throws(BusError) -> any ServedInterface {
        guard let name = InterfaceName(name), let found = interface(name) else {
            throw .invalidArguments("No such interface “\(name)”")
        }
        return found
    }

    private func member(_ name: String) throws(BusError) -> MemberName {
        guard let member = MemberName(name) else { throw .invalidArguments("No such property “\(name)”") }
        return member
    }

    private func firstLine(of path: String) -> String? {
        let descriptor = FileDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor.raw, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
