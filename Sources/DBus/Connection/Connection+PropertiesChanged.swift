extension Connection {
    private static let propertyEntry = Signature(trusted: "{sv}")

    /// Sends a `PropertiesChanged` at once, with the given properties and values.
    ///
    /// - Parameter destination: the one peer that gets it; `nil` for everyone who listens.
    package func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, to destination: BusName?, _ properties: [Value.Entry]
    ) throws(WriteError) {
        send(try .propertiesChanged(path, interface, to: destination, properties))
    }

    /// The same for one property, straight to the wire: it goes out to every client with every fix.
    ///
    /// - Parameter template: made by ``SignalTemplate/propertiesChanged(_:_:to:)``.
    package func emitPropertyChanged<T: DBusType>(
        _ template: SignalTemplate, _ property: MemberName, _ value: T
    ) throws(WriteError) {
        let signal = template.message()
        let writer = MessageWriter(appendingTo: signal)
        try writer.writeContainer("a", Self.propertyEntry) { changed throws(WriteError) in
            try changed.writeContainer("e") { entry throws(WriteError) in
                try property.string.write(to: entry)
                try entry.writeContainer("v", T.signature) { variant throws(WriteError) in
                    try value.write(to: variant)
                }
            }
        }
        try [String]().write(to: writer)
        send(signal)
    }
}

extension Message {
    /// The signal that properties of `interface` have the given values now.
    static func propertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, to destination: BusName?, _ properties: [Value.Entry]
    ) throws(WriteError) -> Message {
        let signal = signal(path, .properties, .propertiesChanged, to: destination)
        try signal.append(interface.string)
        try signal.append(.dictionary(key: String.signature, value: Variant.signature, properties))
        try signal.append([String]())
        return signal
    }
}

extension SignalTemplate {
    /// The signal that properties of `interface` have changed.
    package static func propertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, to destination: BusName?
    ) throws(WriteError) -> SignalTemplate {
        try SignalTemplate(
            path, .properties, .propertiesChanged, to: destination,
            beginningWith: interface.string)
    }
}
