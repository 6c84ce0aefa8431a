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

    /// What a call does, once its row is found, its signature fits, its sender may use it, and `message` has been read.
    func prepare(_ call: MethodCall, _ message: Message) throws(BusError) -> PreparedCall

    func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value
    func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError)

    /// The properties that `sender` may read.
    func properties(for sender: BusName) -> [String: Variant]

    func describe(in introspection: inout Introspection)
}

/// A call that is ready to run. Gives the reply.
package typealias PreparedCall = @ServiceActor () async throws -> Message

/// An ``Interface`` bound to the object whose rows it runs.
package struct Bound<Owner>: ServedInterface {
    let interface: Interface<Owner>
    let owner: Owner

    package init(_ interface: Interface<Owner>, to owner: Owner) {
        self.interface = interface
        self.owner = owner
    }

    package var name: InterfaceName { interface.name }

    package func prepare(_ call: MethodCall, _ message: Message) throws(BusError) -> PreparedCall {
        guard let method = interface.method(call.member) else {
            throw .unknownMethod("No such method “\(call.member)”")
        }
        guard message.hasSignature(method.signature) else { throw mismatch(method, message, call) }
        if let refusal = method.access.checkSender(owner, call.sender) { throw refusal }
        let run: PreparedCall
        do { run = try method.prepare(owner, call, message) } catch { throw error.busError }
        guard let check = method.access.checkCaller else { return run }
        return { [owner] in
            if let refusal = await check(owner, call) { throw refusal }
            return try await run()
        }
    }

    private func mismatch(_ method: Method<Owner>, _ message: Message, _ call: MethodCall) -> BusError {
        // What GDBus says, which knows the methods of this one interface by their signatures.
        guard name != StandardInterfaces.properties else { return .noSuchInterface(name, at: call.path) }
        return .invalidArguments(
            "Type of message, “(\(message.signature))”, does not match expected type “(\(method.signature))”")
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
            throw BusError(handlerError: error)
        }
    }

    package func properties(for sender: BusName) -> [String: Variant] {
        var values: [String: Variant] = [:]
        for property in interface.properties where property.access.checkSender(owner, sender) == nil {
            values[property.name.string] = Variant(property.get(owner))
        }
        return values
    }

    package func describe(in introspection: inout Introspection) { introspection.add(interface) }
}
