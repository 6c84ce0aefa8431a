/// Who asks for a position: what the bus and the kernel say, never what the caller says alone.
package struct Requester: Sendable, Hashable {
    package let userID: UInt32
    package let application: ApplicationIdentity
    /// Whether it is the desktop portal, which asks for every sandboxed application under one name.
    package let isPortal: Bool
    /// Whether the user has a login session; true for everybody where nothing keeps count of them.
    package let hasSession: Bool

    package init(userID: UInt32, application: ApplicationIdentity, isPortal: Bool, hasSession: Bool) {
        self.userID = userID
        self.application = application
        self.isPortal = isPortal
        self.hasSession = hasSession
    }
}
