/// One access point as a scan saw it, with the name that decides whether it may be told to others.
package struct SeenAccessPoint: Sendable, Hashable {
    /// SSID: up to 32 bytes of no particular encoding; empty where the network hides it.
    package var name: [UInt8]
    package var accessPoint: AccessPoint

    package init(name: [UInt8], accessPoint: AccessPoint) {
        self.name = name
        self.accessPoint = accessPoint
    }
}
