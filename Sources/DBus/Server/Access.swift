import EventLoop

/// Who may use a row of an interface. Every row names one; there is no default.
package struct Access<Owner>: Sendable {
    /// Refuses by what the message itself says, which is its sender.
    let checkSender: @Sendable @ServiceActor (Owner, BusName) -> BusError?
    /// Refuses by what has to be found out first. For methods only.
    let checkCaller: (@Sendable @ServiceActor (Owner, MethodCall) async -> BusError?)?

    package init(
        sender: @escaping @Sendable @ServiceActor (Owner, BusName) -> BusError?
    ) {
        checkSender = sender
        checkCaller = nil
    }

    package init(caller: @escaping @Sendable @ServiceActor (Owner, MethodCall) async -> BusError?) {
        checkSender = { _, _ in nil }
        checkCaller = caller
    }

    /// Whoever the bus lets through.
    package static var anyone: Access { Access(sender: { _, _ in nil }) }
}
