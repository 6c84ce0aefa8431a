import EventLoop

/// A row of an interface: a method, the names of its arguments, who may call it, and what it does.
package struct Method<Owner>: Sendable {
    let name: MemberName
    let arguments: [Argument]
    let results: [Argument]
    let signature: Signature
    let access: Access<Owner>
    /// Reads the arguments, runs the body, and gives the reply.
    let run: @Sendable @ServiceActor (Owner, MethodCall) async throws -> Message

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
        run = { owner, call in
            let arguments = try call.message.read(as: repeat (each A).self)
            let results = try await body(owner)(call, repeat each arguments)
            let reply = call.message.methodReturn()
            try reply.append(repeat each results)
            return reply
        }
    }
}
