internal import CNetlink

/// The ways to the rest of the world, by the kernel's word.
struct RouteState: Sendable, Hashable {
    /// At most one for each of the internet's two protocols.
    var ways: [Way] = []

    struct Way: Sendable, Hashable {
        /// The router's address, in its own bytes; empty where the link itself leads on.
        let gateway: [UInt8]
        let link: NetworkLink
    }

    func leads(over kind: NetworkLink.Kind) -> Bool { ways.contains { $0.link.kind == kind } }
}

/// Where the kernel would send a packet (rtnetlink(7), `RTM_NEWROUTE`).
struct RouteAnswer: Sendable, Equatable {
    let linkIndex: UInt32
    let gateway: [UInt8]

    /// - Returns: `nil` where a packet would go nowhere.
    init?(_ message: NetlinkMessage) {
        guard message.type == UInt16(RTM_NEWROUTE), let type = message.payload.integer(UInt8.self, at: 7),
            Int(type) == RTN_UNICAST
        else { return nil }
        let attributes = message.attributes(after: MemoryLayout<rtmsg>.size)
        guard let index = attributes[RTA_OIF.rawValue]?.integer(UInt32.self, at: 0), index > 0 else { return nil }
        linkIndex = index
        // IPv4 may go by way of a router of the other protocol.
        gateway = Array(attributes[RTA_GATEWAY.rawValue] ?? attributes[RTA_VIA.rawValue] ?? [])
    }
}
