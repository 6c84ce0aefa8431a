import EventLoop

/// A row of an interface: a property, who may read and write it, and how.
package struct Property<Owner>: Sendable {
    /// What `PropertiesChanged` says of it (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
    package enum Changes: String, Sendable {
        /// Announced with the new value.
        case announced = "true"
        /// Never changes while the object lives.
        case constant = "const"
        /// Changes are not announced.
        case silent = "false"
    }

    let name: MemberName
    let type: Signature
    let changes: Changes
    let access: Access<Owner>
    let get: @Sendable @ServiceActor (Owner) -> Value
    let set: Setter?

    typealias Setter = @Sendable @ServiceActor (Owner, Value) throws -> Void

    /// A property that can only be read.
    package init<T: PropertyType>(
        _ name: MemberName, changes: Changes = .announced, access: Access<Owner>,
        get: @escaping @Sendable @ServiceActor (Owner) -> T
    ) {
        precondition(access.checkCaller == nil, "a property is read at once, so who may read it is known at once")
        self.name = name
        self.changes = changes
        self.access = access
        type = T.signature
        self.get = { get($0).asValue }
        set = nil
    }

    /// A property that can be read and written.
    ///
    /// - Parameter set: what it throws becomes the error reply.
    package init<T: PropertyType>(
        _ name: MemberName, changes: Changes = .announced, access: Access<Owner>,
        get: @escaping @Sendable @ServiceActor (Owner) -> T,
        set: @escaping @Sendable @ServiceActor (Owner, T) throws -> Void
    ) {
        precondition(access.checkCaller == nil, "a property is read at once, so who may read it is known at once")
        self.name = name
        self.changes = changes
        self.access = access
        type = T.signature
        self.get = { get($0).asValue }
        self.set = { owner, value in
            guard let typed = T(value) else {
                throw ReadError.unexpectedType(expected: T.signature, found: value.signature)
            }
            try set(owner, typed)
        }
    }
}
