import DBus

/// The names of the service's own interfaces, which all begin with one prefix.
package enum WhereaboutsNames {
    /// What XML, policy, activation and polkit ids begin with, too.
    private static let prefix = "org.whereabouts1"

    package static let busName = BusName(trusted: prefix)
    /// Owned on a connection of its own, so that the bus can tell the two apart.
    package static let controlBusName = BusName(trusted: prefix + ".Control")

    package static let control = InterfaceName(trusted: prefix + ".Control")
    package static let controlPath: ObjectPath = "/org/whereabouts1/Control"

    /// The polkit action for what belongs to other users.
    static let manageAction = prefix + ".manage"
}
