extension Connection {
    /// Sends a `PropertiesChanged` at once, with the given properties and values.
    ///
    /// - Parameter destination: the one peer that gets it; `nil` for everyone who listens.
    package func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, to destination: BusName?, _ properties: [Value.Entry]
    ) throws(WriteError) {
        let signal = Message.signal(path, StandardInterfaces.properties, "PropertiesChanged", to: destination)
        try signal.append(interface.string)
        try signal.append(.dictionary(key: String.signature, value: Variant.signature, properties))
        try signal.append([String]())
        send(signal)
    }
}
