/// Which bus to connect to.
package enum BusAddress: Sendable, Equatable {
    /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, else where the distribution has it.
    case system
    /// The session bus: `DBUS_SESSION_BUS_ADDRESS`.
    case session
    /// An address in the form of the D-Bus specification, `unix:path=/run/bus`.
    case address(String)

    /// `system`, `session`, or an address.
    package init(_ text: String) {
        self =
            switch text {
            case "system": .system
            case "session": .session
            default: .address(text)
            }
    }
}
