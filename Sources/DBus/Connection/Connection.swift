import EventLoop

/// A connection to a message bus: calls out, signals in and out, and the objects that it serves.
@ServiceActor
package final class Connection {
    /// The objects that others reach over this connection.
    package let objects = ObjectTree()

    /// The name that the bus gave this connection.
    package private(set) var uniqueName: BusName = .bus

    /// Called once when the bus has gone.
    package var onDisconnect: (@ServiceActor () -> Void)?

    private var transport: Transport!
    private var names: NameWatch!
    private let pending = PendingReplies()
    /// In the order in which they were made.
    private var subscriptions: [(id: Int, rule: MatchRule, handler: @ServiceActor (Message) -> Void)] = []
    private var nextSubscription = 0
    private let changes = PropertyChanges()
    private let clock: any Clock
    private var isOpen = true
    private var heldCalls: [Message] = []

    /// What may wait for the bus before updates are left out: the bus has stopped reading.
    private static let congestionLimit = 16 << 20

    private static let busPath: ObjectPath = "/org/freedesktop/DBus"
    private static let busInterface: InterfaceName = "org.freedesktop.DBus"
    /// libdbus's own, for what never was on the wire.
    private static let localInterface: InterfaceName = "org.freedesktop.DBus.Local"

    /// Connects to a bus. Blocks until the bus has answered, so it belongs to the start of a program.
    ///
    /// - Throws: why the bus cannot be reached.
    package init(_ address: BusAddress, clock: any Clock = LoopClock.shared) throws(BusError) {
        self.clock = clock
        transport = try Transport(address) { [weak self] in self?.receive($0) }
        uniqueName = transport.uniqueName
        names = NameWatch(
            addMatch: { [weak self] in self?.tellBus("AddMatch", $0) },
            removeMatch: { [weak self] in self?.tellBus("RemoveMatch", $0) })
        objects.connection = self
    }

    /// Ends the connection; every call that waits fails with ``BusError/disconnected``.
    package func close() {
        isOpen = false
        transport.close()
        pending.finishAll(.disconnected)
    }

    /// Comes back once the bus has taken everything that was sent. For the end of a program.
    package func sent() async {
        while isOpen, transport.outgoingSize > 0 {
            var timer: Timer?
            await withCheckedContinuation { waiting in
                timer = clock.after(.milliseconds(5)) { waiting.resume() }
            }
            timer?.cancel()
        }
    }

    // MARK: Sending

    package func send(_ message: Message) { transport.send(message) }

    /// Whether the bus takes messages so slowly that updates should be left out.
    package var isCongested: Bool { transport.outgoingSize > Self.congestionLimit }

    /// Sends a signal.
    ///
    /// - Parameter destination: the one peer that gets it; `nil` for everyone who listens.
    package func emit<each T: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, to destination: BusName?,
        _ values: repeat each T
    ) throws(WriteError) {
        let message = Message.signal(path, interface, member, to: destination)
        try message.append(repeat each values)
        transport.send(message)
    }

    /// Sends a signal that begins like others.
    ///
    /// - Parameter values: the arguments that are not in the template.
    package func emit<each T: DBusType>(_ template: SignalTemplate, _ values: repeat each T) throws(WriteError) {
        let message = template.message()
        try message.append(repeat each values)
        transport.send(message)
    }

    /// Announces a property in the next `PropertiesChanged` of its object, which follows the reply of the call that is
    /// being handled. Several changes of one object go out as one signal, with the values of that moment.
    ///
    /// - Parameter destination: the one peer that gets it; `nil` for everyone who listens.
    package func propertyChanged<Owner: BusObject>(
        _ property: MemberName, of owner: Owner, at path: ObjectPath, in interface: Interface<Owner>,
        to destination: BusName?
    ) {
        if changes.isEmpty { EventLoop.shared.defer { [weak self] in self?.flushChanges() } }
        changes.add(property, of: owner, at: path, in: interface, to: destination)
    }

    private func flushChanges() {
        for message in changes.take() { transport.send(message) }
    }

    // MARK: Calling

    /// Calls a method and waits for its reply.
    ///
    /// - Parameter timeout: how long to wait; `nil` for as long as it takes.
    /// - Throws: the error reply; ``BusError/noReply`` at the deadline; ``BusError/cancelled`` with the task.
    package func call(_ message: Message, timeout: Duration? = .seconds(25)) async throws(BusError) -> Message {
        guard isOpen, let serial = transport.send(message) else { throw .disconnected }
        let deadline = timeout.map { timeout in
            clock.after(timeout) { [pending] in pending.finish(serial, .failure(.noReply)) }
        }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending.add(serial, deadline: deadline, continuation)
                // Cancelled, or the bus lost, before there was anything to end.
                if !isOpen { pending.finish(serial, .failure(.disconnected)) }
                if Task.isCancelled { pending.finish(serial, .failure(.cancelled)) }
            }
        } onCancel: {
            ServiceActor.task { [pending] in pending.finish(serial, .failure(.cancelled)) }
        }.get()
    }

    /// Calls a method with typed arguments and results. Without any, whatever the reply holds is left unread.
    ///
    /// - Throws: as ``call(_:timeout:)``, and where the reply holds other types than `results`, or more.
    package func call<each A: DBusType, each R: DBusType>(
        _ destination: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
        _ arguments: repeat each A, returning results: repeat (each R).Type, timeout: Duration? = .seconds(25)
    ) async throws(BusError) -> (repeat each R) {
        let message = Message.methodCall(to: destination, path, interface, member)
        do { try message.append(repeat each arguments) } catch { throw error.busError }
        let reply = try await call(message, timeout: timeout)
        var isRead = false
        for _ in repeat each results { isRead = true }
        do {
            return try isRead ? reply.readWhole(as: repeat each results) : reply.read(as: repeat each results)
        } catch { throw error.busError }
    }

    /// Calls a method of the bus itself.
    package func callBus<each A: DBusType, each R: DBusType>(
        _ member: MemberName, _ arguments: repeat each A, returning results: repeat (each R).Type
    ) async throws(BusError) -> (repeat each R) {
        try await call(
            .bus, Self.busPath, Self.busInterface, member, repeat each arguments,
            returning: repeat each results)
    }

    private func tellBus(_ member: MemberName, _ rule: MatchRule) {
        let message = Message.methodCall(to: .bus, Self.busPath, Self.busInterface, member)
        message.expectsReply = false
        try? message.append(rule.text)
        transport.send(message)
    }

    // MARK: Names

    package enum NameRequestOutcome: Sendable { case owned, taken }

    /// Asks for a well-known name, without waiting in a queue for it.
    package func requestName(_ name: BusName) async throws(BusError) -> NameRequestOutcome {
        let doNotQueue: UInt32 = 4
        let outcome = try await callBus("RequestName", name.string, doNotQueue, returning: UInt32.self)
        // 1 primary owner, 4 already owner (D-Bus specification, “RequestName”).
        return outcome == 1 || outcome == 4 ? .owned : .taken
    }

    /// Whether calls wait, unanswered, until it is decided whether there will be anybody to serve them.
    package var holdsCalls = false {
        didSet {
            guard !holdsCalls else { return }
            let calls = heldCalls
            heldCalls = []
            for call in calls { receive(call) }
        }
    }

    package var hasHeldCalls: Bool { !heldCalls.isEmpty }

    /// Gives a name back. Calls to it that the bus has passed on before come before this returns.
    package func releaseName(_ name: BusName) async throws(BusError) {
        _ = try await callBus("ReleaseName", name.string, returning: UInt32.self)
    }

    /// Calls `handler` whenever a name gets another owner or, with `nil`, loses its owner.
    package func watchOwner(
        of name: BusName, _ handler: @escaping @ServiceActor (BusName?) -> Void
    ) -> Subscription {
        let id = names.add(name, handler)
        return Subscription { [weak self] in self?.names.remove(id, from: name) }
    }

    /// Calls `handler` with the owner that a name has now, if it has any, and as ``watchOwner(of:_:)`` does from then on.
    package func followOwner(
        of name: BusName, _ handler: @escaping @ServiceActor (BusName?) -> Void
    ) -> Subscription {
        let watch = watchOwner(of: name, handler)
        ServiceActor.start { [weak self, weak watch] in
            // No answer means that there is none.
            guard let owner = try? await self?.callBus("GetNameOwner", name.string, returning: String.self) else {
                return
            }
            if watch != nil { handler(BusName(trusted: owner)) }
        }
        return watch
    }

    /// The process behind a connection, by the bus's word.
    ///
    /// - Throws: `NameHasNoOwner` if the connection has gone.
    package func credentials(of peer: BusName) async throws(BusError) -> Credentials {
        let entries = try await callBus("GetConnectionCredentials", peer.string, returning: [String: Variant].self)
        guard let credentials = Credentials(entries) else { throw .failed("the bus does not know the user of \(peer)") }
        return credentials
    }

    // MARK: Listening

    /// Calls `handler` with each signal that fits `rule`, whose sender is to be a unique name or the bus.
    package func subscribe(
        to rule: MatchRule, _ handler: @escaping @ServiceActor (Message) -> Void
    ) -> Subscription {
        nextSubscription += 1
        let id = nextSubscription
        subscriptions.append((id, rule, handler))
        tellBus("AddMatch", rule)
        return Subscription { [weak self] in
            self?.subscriptions.removeAll { $0.id == id }
            self?.tellBus("RemoveMatch", rule)
        }
    }

    private func receive(_ message: Message) {
        switch message.kind {
        case .methodReturn, .error: pending.deliver(message)
        case .signal: receiveSignal(message)
        case .methodCall: if holdsCalls { heldCalls.append(message) } else { objects.handle(message) }
        case nil: break
        }
        // What a handler goes on with, and what it announces, comes before the next message.
        EventLoop.shared.drainJobs()
        flushChanges()
    }

    private func receiveSignal(_ signal: Message) {
        if signal.isSignal(Self.localInterface, "Disconnected") {
            guard isOpen else { return }
            isOpen = false
            pending.finishAll(.disconnected)
            onDisconnect?()
            return
        }
        if signal.isSignal(Self.busInterface, "NameOwnerChanged"), signal.sender == .bus,
            let (name, _, owner) = try? signal.read(as: String.self, String.self, String.self)
        {
            names.ownerChanged(BusName(trusted: name), to: owner.isEmpty ? nil : BusName(trusted: owner))
        }
        for (id, rule, handler) in subscriptions where rule.matches(signal) {
            // A handler before this one may have ended it.
            if subscriptions.contains(where: { $0.id == id }) { handler(signal) }
        }
    }
}
