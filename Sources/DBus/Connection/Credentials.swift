/// What the bus knows of a connection's process (`GetConnectionCredentials`).
package struct Credentials: Sendable {
    package let userID: UInt32
    /// The process that connected. Its number may have been given to another one since.
    package let processID: UInt32?
    /// A descriptor of that very process, from buses that give one (dbus 1.15.8 and later).
    package let process: UnixFD?
    /// The security label, without its final NUL.
    package let securityLabel: String?

    package init(userID: UInt32, processID: UInt32?, process: UnixFD? = nil, securityLabel: String? = nil) {
        self.userID = userID
        self.processID = processID
        self.process = process
        self.securityLabel = securityLabel
    }

    init?(_ entries: [String: Variant]) {
        guard case .uint32(let userID)? = entries["UnixUserID"]?.value else { return nil }
        self.userID = userID
        processID = if case .uint32(let number)? = entries["ProcessID"]?.value { number } else { nil }
        process = if case .unixFD(let descriptor)? = entries["ProcessFD"]?.value { descriptor } else { nil }
        securityLabel =
            if case .array(_, let bytes)? = entries["LinuxSecurityLabel"]?.value {
                String(
                    decoding: bytes.compactMap { value -> UInt8? in
                        if case .byte(let byte) = value, byte != 0 { byte } else { nil }
                    }, as: UTF8.self)
            } else { nil }
    }
}
