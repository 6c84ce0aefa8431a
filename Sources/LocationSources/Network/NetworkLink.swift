internal import CNetlink
import Glibc

/// A network interface, as far as it tells where the machine is (rtnetlink(7), `RTM_NEWLINK`).
struct NetworkLink: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case loopback
        /// Leads to somewhere else in the world, and what comes out there is what others see.
        case tunnel
        /// The way of many a VPN, and of DSL and old modems: the interface itself does not tell.
        case pointToPoint
        case other
    }

    let index: UInt32
    let kind: Kind
    /// Whether it can carry anything: switched on, and with a carrier where there is such a thing.
    let isRunning: Bool
    /// How often the carrier has come or gone: behind one that was gone may be another network.
    let carrierChanges: UInt32

    init(index: UInt32, kind: Kind, isRunning: Bool = true, carrierChanges: UInt32 = 0) {
        self.index = index
        self.kind = kind
        self.isRunning = isRunning
        self.carrierChanges = carrierChanges
    }

    init?(_ message: NetlinkMessage) {
        guard message.type == UInt16(RTM_NEWLINK), let type = message.payload.integer(UInt16.self, at: 2),
            let index = message.payload.integer(UInt32.self, at: 4),
            let flags = message.payload.integer(UInt32.self, at: 8)
        else { return nil }
        let attributes = message.attributes(after: MemoryLayout<ifinfomsg>.size)
        let information = attributes[UInt32(IFLA_LINKINFO)].map { NetlinkMessage.attributes(in: $0) }
        let driver = information?[UInt32(IFLA_INFO_KIND)].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let isLoopback = flags & UInt32(IFF_LOOPBACK) != 0
        self.index = index
        kind = isLoopback ? .loopback : Self.kind(driver: driver, type: type)
        isRunning = flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0
        carrierChanges = attributes[UInt32(IFLA_CARRIER_CHANGES)]?.integer(UInt32.self, at: 0) ?? 0
    }

    /// Names that drivers give their interfaces' kind: the kernel's own, and those of VPNs beside it.
    private static let tunnels: Set<String> = [
        "tun", "wireguard", "amneziawg", "ovpn", "ovpn-dco", "ipip", "sit", "gre", "gretap", "ip6gre", "ip6gretap",
        "ip6tnl", "erspan", "ip6erspan", "vti", "vti6", "xfrm", "l2tpeth", "vxlan", "geneve", "gtp", "bareudp",
    ]

    /// - Parameters:
    ///   - driver: what the driver calls itself; `nil` for most hardware.
    ///   - type: of the device, `ARPHRD_…` (linux/if_arp.h).
    private static func kind(driver: String?, type: UInt16) -> Kind {
        if let driver, tunnels.contains(driver) { return .tunnel }
        return switch type {
        // ARPHRD_PPP
        case 512: .pointToPoint
        // ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_IPGRE, ARPHRD_IP6GRE
        case 768, 769, 776, 778, 823: .tunnel
        default: .other
        }
    }
}
