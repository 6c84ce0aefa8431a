import EventLoop

/// A row of an interface: a method, the names of its arguments, who may call it, and what it does.
package struct Method<Owner>: Sendable {
    let name: MemberName
    let arguments: [Argument]
    let results: [Argument]
    let signature: Signature
    let access: Access<Owner>
    /// Reads the arguments, and gives what runs the body with them and makes the reply.
    let prepare: @Sendable @ServiceActor (Owner, MethodCall, Message) throws(ReadError) -> PreparedCall

    /// - Parameters:
    ///   - arguments: the names of the arguments, in order.
    ///   - results: the names of the results, in order.
    ///   - body: what the method does; what it throws becomes the error reply (``BusErrorConvertible``).
    package init<each A: DBusType, each R: DBusType>(
        _ name: MemberName, _ arguments: String..., returns results: String..., access: Access<Owner>,
        body:
            @escaping @Sendable @ServiceActor (Owner) -> (
                @ServiceActor (MethodCall, repeat each A) async throws -> (repeat each R)
            )
    ) {
        var argumentTypes: [Signature] = []
        repeat argumentTypes.append((each A).signature)
        var resultTypes: [Signature] = []
        repeat resultTypes.append((each R).signature)
        self.name = name
        self.arguments = Argument.list(arguments, argumentTypes)
        self.results = Argument.list(results, resultTypes)
        self.access = access
        signature = Signature(trusted: argumentTypes.map(\.string).joined())
        prepare = { owner, call, message throws(ReadError) in
            let arguments = try message.read(as: repeat (each A).self, sizeLimit: MethodCall.sizeLimit)
            return {
                let results = try await body(owner)(call, repeat each arguments)
                let reply = Message.methodReturn(to: call.sender, serial: call.serial)
                try reply.append(repeat each results)
                return reply
            }
        }
    }
}
