/// What the administrator says about one application, in the group of its id.
package struct ApplicationRule: Sendable, Hashable {
    /// `nil` where the group does not say, and then decides nothing.
    package var isAllowed: Bool?
    /// A part of the system: its use of the location does not show in `InUse`.
    package var isSystem: Bool
    /// The users whom `isAllowed` lets in; `nil` for all.
    package var users: Set<UInt32>?

    package init(isAllowed: Bool? = nil, isSystem: Bool = false, users: Set<UInt32>? = nil) {
        self.isAllowed = isAllowed
        self.isSystem = isSystem
        self.users = users
    }

    /// Whether a user may use the application. `nil` if the rule does not say: then records and agents decide.
    package func permits(_ user: UInt32) -> Bool? { isAllowed.map { $0 && users?.contains(user) ?? true } }
}
