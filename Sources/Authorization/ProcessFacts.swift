/// What the bus and the kernel say about the process behind a connection.
package struct ProcessFacts: Sendable, Hashable {
    /// The text of `/proc/PID/cgroup`. `nil` if it could not be read.
    package var cgroup: String?
    /// The `NSpid` line of `/proc/PID/status`, with or without its name. `nil` if it could not be read.
    package var namespaceProcessIDs: String?
    /// The text of `/proc/PID/comm`.
    package var command: String?
    /// The security label that the bus took from the socket (`LinuxSecurityLabel`), if it has one.
    package var securityLabel: String?

    package init(
        cgroup: String?, namespaceProcessIDs: String?, command: String? = nil, securityLabel: String? = nil
    ) {
        self.cgroup = cgroup
        self.namespaceProcessIDs = namespaceProcessIDs
        self.command = command
        self.securityLabel = securityLabel
    }
}
