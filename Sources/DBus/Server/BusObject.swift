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
        let method = try interface.method(for: call, message)
        if let refusal = method.access.checkSender(owner, call.sender) { throw refusal }
        let run: PreparedCall
        do { run = try method.prepare(owner, call, message) } catch { throw error.busError }
        guard let check = method.access.checkCaller else { return run }
        return { [owner] in
            if let refusal = await check(owner, call) { throw refusal }
            return try await run()
        }
    }

    package func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value {
        let property = try interface.property(name)
        if let refusal = property.access.checkSender(owner, sender) { throw refusal }
        return property.get(owner)
    }

    package func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError) {
        let (property, set) = try interface.property(name, settableTo: value)
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

/// An ``Interface`` where everything is refused that a stranger to the object is refused, without any object.
package struct Refused<Owner>: ServedInterface {
    let interface: Interface<Owner>
    let refusal: BusError

    package init(_ interface: Interface<Owner>, with refusal: BusError) {
        self.interface = interface
        self.refusal = refusal
    }

    package var name: InterfaceName { interface.name }

    package func prepare(_ call: MethodCall, _ message: Message) throws(BusError) -> PreparedCall {
        _ = try interface.method(for: call, message)
        throw refusal
    }

    package func getProperty(_ name: MemberName, for sender: BusName) throws(BusError) -> Value {
        _ = try interface.property(name)
        throw refusal
    }

    package func setProperty(_ name: MemberName, to value: Value, for sender: BusName) throws(BusError) {
        _ = try interface.property(name, settableTo: value)
        throw refusal
    }

    package func properties(for sender: BusName) -> [String: Variant] { [:] }

    package func describe(in introspection: inout Introspection) { introspection.add(interface) }
}
