/// The introspection document of an object (D-Bus specification, “Introspection Data Format”).
package struct Introspection {
    private var text = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>

        """

    mutating func add<Owner>(_ interface: Interface<Owner>) {
        text += "  <interface name=\"\(interface.name)\">\n"
        for method in interface.methods {
            let arguments =
                method.arguments.map { argument($0, direction: "in") }
                + method.results.map { argument($0, direction: "out") }
            add("method", name: method.name.string, children: arguments)
        }
        for property in interface.properties {
            let access = property.set == nil ? "read" : "readwrite"
            let annotation =
                "      <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\""
                + " value=\"\(property.changes.rawValue)\"/>\n"
            add(
                "property", name: property.name.string, attributes: " type=\"\(property.type)\" access=\"\(access)\"",
                children: property.changes == .announced ? [] : [annotation])
        }
        for signal in interface.signals {
            add("signal", name: signal.name.string, children: signal.arguments.map { argument($0, direction: nil) })
        }
        text += "  </interface>\n"
    }

    mutating func add(child: String) { text += "  <node name=\"\(child)\"/>\n" }

    consuming func finish() -> String { text + "</node>\n" }

    private mutating func add(_ element: String, name: String, attributes: String = "", children: [String]) {
        text += "    <\(element) name=\"\(name)\"\(attributes)"
        text += children.isEmpty ? "/>\n" : ">\n" + children.joined() + "    </\(element)>\n"
    }

    private func argument(_ argument: Argument, direction: String?) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(direction)/>\n"
    }
}
