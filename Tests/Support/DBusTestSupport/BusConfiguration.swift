/// What a ``PrivateBus`` allows.
package struct BusConfiguration: Sendable {
    /// Everyone may own, send and receive everything that is addressed to them.
    package static let permissivePolicy = """
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_type="method_call"/>
            <allow send_type="signal"/>
            <allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/>
            <allow receive_type="method_call"/>
            <allow receive_type="method_return"/>
            <allow receive_type="error"/>
            <allow receive_type="signal"/>
          </policy>
        """

    /// As on the stock system bus: what is not allowed for a name or a user is not allowed, signals excepted.
    package static let systemPolicy = """
          <policy context="default">
            <allow user="*"/>
            <deny own="*"/>
            <deny send_type="method_call"/>
            <allow send_type="signal"/>
            <allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/>
            <allow receive_type="method_call"/>
            <allow receive_type="method_return"/>
            <allow receive_type="error"/>
            <allow receive_type="signal"/>
            <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
          </policy>
        """

    /// Limits that a test with thousands of peers does not meet. Match rules stay at the 512 of the stock bus.
    package static let generousLimits = [
        "max_connections_per_user": 20_000, "max_completed_connections": 20_000, "max_replies_per_connection": 20_000,
        "max_match_rules_per_connection": 512,
    ]

    private let policy: String
    private let limits: [String: Int]
    private let policyFiles: [String]

    /// - Parameters:
    ///   - policy: `<policy>` elements.
    ///   - policyFiles: further files, included after `policy`.
    package init(
        policy: String = permissivePolicy, limits: [String: Int] = generousLimits, policyFiles: [String] = []
    ) {
        self.policy = policy
        self.limits = limits
        self.policyFiles = policyFiles
    }

    /// The configuration file.
    func text(socket: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
        \(policy)
        \(limits.sorted { $0.key < $1.key }.map { "  <limit name=\"\($0)\">\($1)</limit>" }.joined(separator: "\n"))
        \(policyFiles.map { "  <include>\($0)</include>" }.joined(separator: "\n"))
        </busconfig>
        """
    }
}
