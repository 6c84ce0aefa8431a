/// What the administrator says about one application, in the group of its id.
package struct ApplicationRule: Sendable, Equatable {
    package enum Permission: Sendable, Equatable { case allow, deny }

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

    /// What the rule says to a user. `nil` if nothing: then records and agents decide.
    package func permission(forUser user: UInt32) -> Permission? {
        switch isAllowed {
        case nil: nil
        case false?: .deny
        case true?: users?.contains(user) ?? true ? .allow : .deny
        }
    }
}
