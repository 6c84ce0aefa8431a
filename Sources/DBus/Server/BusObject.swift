import EventLoop

/// An object that is served on the bus.
@ServiceActor
package protocol BusObject: AnyObject, Sendable {
    /// The interfaces that it has beside the standard ones, in the order of its introspection.
    var interfaces: [any ServedInterface] { get }
}

/// An interface together with the object that offers it.
@ServiceActor
package protocol ServedInterface {
    var name: InterfaceName { get }

    /// What a call of `member` does, once its row is found, its signature fits, and its sender may use it.
    func prepare(_ call: MethodCall) -> Result<PreparedCall, BusError>

    func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value
    func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError)

    /// The properties that `sender` may read.
    func properties(for sender: BusName) -> [String: Variant]

    func describe(in introspection: inout IntrospectionDocument)
}

/// A call that is ready to run.
package struct PreparedCall {
    let run: @ServiceActor () async throws -> Message
}

/// What ``ServedInterface`` adds its description to.
package struct IntrospectionDocument {
    var contents = Introspection()
}

/// An ``Interface`` bound to the object whose rows it runs.
package struct Bound<Owner>: ServedInterface {
    let interface: Interface<Owner>
    let owner: Owner

    package init(_ interface: Interface<Owner>, to owner: Owner) {
        self.interface = interface
        self.owner = owner
    }

    package var name: InterfaceName { interface.name }

    package func prepare(_ call: MethodCall) -> Result<PreparedCall, BusError> {
        guard let method = interface.method(call.member) else {
            return .failure(.unknownMethod("No such method “\(call.member)”"))
        }
        let found = call.message.signature
        guard found == method.signature else {
            return .failure(
                .invalidArguments("Type of message, “(\(found))”, does not match expected type “(\(method.signature))”")
            )
        }
        if let refusal = method.access.checkSender(owner, call.sender) { return .failure(refusal) }
        let owner = owner
        return .success(
            PreparedCall {
                if let check = method.access.checkCaller, let refusal = await check(owner, call) { throw refusal }
                return try await method.run(owner, call)
            })
    }

    package func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value {
        guard let property = interface.property(name) else { throw .invalidArguments("No such property “\(name)”") }
        if let refusal = property.access.checkSender(owner, sender) { throw refusal }
        return property.get(owner)
    }

    package func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError) {
        guard let property = interface.property(name) else { throw .invalidArguments("No such property “\(name)”") }
        guard let set = property.set else { throw .invalidArguments("Property “\(name)” is not writable") }
        guard value.signature == property.type else {
            throw .invalidArguments(
                "Error setting property “\(name)”: Expected type “\(property.type)” but got “\(value.signature)”")
        }
        if let refusal = property.access.checkSender(owner, sender) { throw refusal }
        do { try set(owner, value) } catch {
            throw (error as? any BusErrorConvertible)?.busError ?? .failed("\(error)")
        }
    }

    package func properties(for sender: BusName) -> [String: Variant] {
        var values: [String: Variant] = [:]
        for property in interface.properties where property.access.checkSender(owner, sender) == nil {
            values[property.name.string] = Variant(property.get(owner))
        }
        return values
    }

    package func describe(in introspection: inout IntrospectionDocument) { introspection.contents.add(interface) }
}
