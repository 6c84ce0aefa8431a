import DBus

/// What NetworkManager says of the machine's connections (its D-Bus reference, 1.42).
struct ManagedConnections: Sendable, Hashable {
    /// Whether some connection is up that may lead further than this machine's own links.
    let isConnected: Bool
    /// Whether somebody answers in place of the internet until a person has signed in.
    let isBehindPortal: Bool
    /// The connection that carries the others, by a path that each activation has for itself; `/` for none.
    let primary: ObjectPath
    /// Such as `802-11-wireless`, `gsm`, `pppoe`, `vpn`.
    let primaryType: String
    let active: [ObjectPath]
    /// Whether the way to the rest of the world is a VPN's.
    var isTunnelled = false

    /// No machine has more; what comes beyond is not looked at.
    static let mostActive = 32

    /// - Returns: `nil` where it is not what NetworkManager says of itself.
    init?(_ properties: [String: Variant]) {
        guard case .uint32(let state)? = properties["State"]?.value,
            case .objectPath(let primary)? = properties["PrimaryConnection"]?.value
        else { return nil }
        // NM_STATE_CONNECTED_LOCAL is 50, …_SITE 60, …_GLOBAL 70.
        isConnected = state >= 60
        self.primary = primary
        // NM_CONNECTIVITY_PORTAL. “Limited” may be a check that cannot be reached, and forbids nothing.
        if case .uint32(2)? = properties["Connectivity"]?.value {
            isBehindPortal = true
        } else {
            isBehindPortal = false
        }
        if case .string(let type)? = properties["PrimaryConnectionType"]?.value {
            primaryType = type
        } else {
            primaryType = ""
        }
        if case .array(_, let paths)? = properties["ActiveConnections"]?.value {
            active = paths.prefix(Self.mostActive).compactMap {
                if case .objectPath(let path) = $0 { path } else { nil }
            }
        } else {
            active = []
        }
    }

    /// Whether an active connection, by its properties, is a VPN that all traffic goes through.
    static func isDefaultTunnel(_ properties: [String: Variant]) -> Bool {
        func isSet(_ name: String) -> Bool { properties[name]?.value == .bool(true) }
        var isTunnel = isSet("Vpn")
        if case .string(let type)? = properties["Type"]?.value {
            isTunnel = isTunnel || ["vpn", "wireguard", "tun", "ip-tunnel"].contains(type)
        }
        return isTunnel && (isSet("Default") || isSet("Default6"))
    }

    /// Whether a link from point to point is what its owner pays for, not a VPN.
    var isPointToPoint: Bool { ["pppoe", "adsl", "gsm", "cdma", "bluetooth"].contains(primaryType) }
}
