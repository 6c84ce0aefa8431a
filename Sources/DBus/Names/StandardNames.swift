extension InterfaceName {
    /// D-Bus specification, “Standard Interfaces”.
    package static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
}

extension MemberName {
    /// The signal of ``InterfaceName/properties``.
    static let propertiesChanged: MemberName = "PropertiesChanged"
}
