import EventLoop

/// The objects of a connection: finds the one that a call is for, runs the call, and sends the reply.
@ServiceActor
package final class ObjectTree {
    /// A branch whose objects are found by asking, so that nothing is registered for each of them.
    package struct Branch {
        /// The object at a path below the branch that is the sender's own.
        let object: @ServiceActor (ObjectPath, BusName) -> (any BusObject)?
        /// What is at a path for whoever has no object of its own there; `nil` for nothing, whoever asks.
        let cover: @ServiceActor (ObjectPath) -> Cover?
        /// The names of the children of a path, as far as `sender` may know them.
        let children: @ServiceActor (ObjectPath, BusName) -> [String]

        package init(
            object: @escaping @ServiceActor (ObjectPath, BusName) -> (any BusObject)?,
            cover: @escaping @ServiceActor (ObjectPath) -> Cover? = { _ in nil },
            children: @escaping @ServiceActor (ObjectPath, BusName) -> [String]
        ) {
            self.object = object
            self.cover = cover
            self.children = children
        }
    }

    /// A path that does not tell everybody whether there is an object.
    package struct Cover {
        /// What is really there.
        let object: (any BusObject)?
        /// What is there for those who may not know.
        let standIn: any BusObject
        let mayKnow: @ServiceActor (BusName) async -> Bool

        package init(
            object: (any BusObject)?, standIn: any BusObject, mayKnow: @escaping @ServiceActor (BusName) async -> Bool
        ) {
            self.object = object
            self.standIn = standIn
            self.mayKnow = mayKnow
        }
    }

    weak var connection: Connection?

    private var objects: [ObjectPath: any BusObject] = [:]
    private var branches: [(root: ObjectPath, prefix: String, branch: Branch)] = []
    private var runningCalls: [BusName: Int] = [:]

    /// Calls of one peer that may be under way at once.
    package static let callLimit = 1024

    package func add(_ object: any BusObject, at path: ObjectPath) { objects[path] = object }

    package func remove(at path: ObjectPath) { objects[path] = nil }

    /// Serves everything below `path` from `branch`.
    package func add(_ branch: Branch, below path: ObjectPath) { branches.append((path, path.string + "/", branch)) }

    // MARK: Finding

    func object(at path: ObjectPath, for sender: BusName) -> (any BusObject)? {
        objects[path] ?? branch(above: path)?.object(path, sender)
    }

    private func branch(above path: ObjectPath) -> Branch? {
        branches.first { path.string.utf8.starts(with: $0.prefix.utf8) }?.branch
    }

    /// The names of the nodes right below `path` that `sender` may know.
    func children(of path: ObjectPath, for sender: BusName) -> [String] {
        let prefix = path == .root ? "/" : path.string + "/"
        var names: Set<String> = []
        for other in Array(objects.keys) + branches.map(\.root)
        where other != .root && other.string.hasPrefix(prefix) {
            names.insert(String(other.string.dropFirst(prefix.count).prefix { $0 != "/" }))
        }
        for (_, branchPrefix, branch) in branches where prefix.hasPrefix(branchPrefix) {
            names.formUnion(branch.children(path, sender))
        }
        return names.sorted()
    }

    /// Whether a path without an object exists all the same: the root of a branch, or the way to what is below.
    private func isNode(_ path: ObjectPath, for sender: BusName) -> Bool {
        branches.contains { $0.root == path } || !children(of: path, for: sender).isEmpty
    }

    // MARK: Handling

    func handle(_ message: Message) {
        guard let sender = message.sender, let path = message.path, let member = message.member else { return }
        do throws(BusError) {
            guard let interface = message.interface else { throw .unknownMethod("A call has to name its interface") }
            let call = MethodCall(
                sender: sender, path: path, interface: interface, member: member,
                allowsInteractiveAuthorization: message.allowsInteractiveAuthorization, serial: message.serial,
                expectsReply: message.expectsReply)
            run(try prepare(call, message), call)
        } catch {
            if message.expectsReply { connection?.send(.error(error, to: sender, serial: message.serial)) }
        }
    }

    private func prepare(_ call: MethodCall, _ message: Message) throws(BusError) -> PreparedCall {
        let found = object(at: call.path, for: call.sender)
        guard runningCalls[call.sender, default: 0] < Self.callLimit else {
            throw .limitsExceeded("more than \(Self.callLimit) calls of one connection are under way")
        }
        if found != nil || isNode(call.path, for: call.sender) { return try prepare(call, message, of: found) }
        guard let cover = branch(above: call.path)?.cover(call.path) else { throw .noSuchObject(at: call.path) }
        // Both are prepared now, so that nobody's message is kept while it is found out who sent it.
        let covered = Result { () throws(BusError) in try prepare(call, message, of: cover.standIn) }
        let real = Result { () throws(BusError) in
            guard let object = cover.object else { throw .noSuchObject(at: call.path) }
            return try prepare(call, message, of: object)
        }
        return { try await (cover.mayKnow(call.sender) ? real : covered).get()() }
    }

    private func prepare(
        _ call: MethodCall, _ message: Message, of object: (any BusObject)?
    ) throws(BusError) -> PreparedCall {
        let target = ServedPath(tree: self, path: call.path, object: object, sender: call.sender)
        guard let interface = target.interface(call.interface) else {
            throw .noSuchInterface(call.interface, at: call.path)
        }
        return try interface.prepare(call, message)
    }

    /// Whether there are calls that have not been answered.
    package var isServing: Bool { !runningCalls.isEmpty }

    private func run(_ prepared: @escaping PreparedCall, _ call: MethodCall) {
        runningCalls[call.sender, default: 0] += 1
        // Up to its first real suspension before the next message, so that calls keep the order of the bus.
        ServiceActor.start { [self] in
            let reply: Message
            do {
                reply = try await prepared()
            } catch {
                reply = .error(BusError(handlerError: error), to: call.sender, serial: call.serial)
            }
            if call.expectsReply { connection?.send(reply) }
            finish(call)
        }
    }

    private func finish(_ call: MethodCall) {
        let others = runningCalls[call.sender, default: 1] - 1
        runningCalls[call.sender] = others == 0 ? nil : others
    }
}
