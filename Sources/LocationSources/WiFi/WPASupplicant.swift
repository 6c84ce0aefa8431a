import DBus
import EventLoop

/// wpa_supplicant, which measures in dBm and knows ages (w1.fi, “wpa_supplicant D-Bus API”, 2.10).
///
/// The bus lets root and the group `netdev` speak to it.
package struct WPASupplicant: WirelessService {
    private static let root: ObjectPath = "/fi/w1/wpa_supplicant1"
    private static let manager: InterfaceName = "fi.w1.wpa_supplicant1"
    private static let interface: InterfaceName = "fi.w1.wpa_supplicant1.Interface"
    private static let bss: InterfaceName = "fi.w1.wpa_supplicant1.BSS"

    /// It has interfaces for wired authentication too.
    private static let driversWithoutRadio: Set<String> = ["wired", "none", "macsec_linux", "macsec_qca", "roboswitch"]
    private static let mostInterfaces = 16

    package init() {}

    package var busName: BusName { "fi.w1.wpa_supplicant1" }

    package func adapterSignals(of owner: BusName) -> [MatchRule] {
        ["InterfaceAdded", "InterfaceRemoved"].map {
            MatchRule(sender: owner, path: Self.root, interface: Self.manager, member: $0)
        }
    }

    package func scanSignals(of owner: BusName) -> [MatchRule] {
        [MatchRule(sender: owner, interface: Self.interface, member: "ScanDone")]
    }

    package func news(in signal: Message) -> WirelessNews? {
        guard let isComplete = try? signal.read(as: Bool.self) else { return nil }
        return isComplete ? .scan : nil
    }

    package func adapters(_ talk: WirelessTalk) async throws(BusError) -> [ObjectPath] {
        guard let interfaces = try await talk.property(Self.root, Self.manager, "Interfaces").paths else {
            throw .failed("its property “Interfaces” is no list of paths")
        }
        var adapters: [ObjectPath] = []
        for path in interfaces.prefix(Self.mostInterfaces) {
            do throws(BusError) {
                guard case .string(let driver) = try await talk.property(path, Self.interface, "Driver"),
                    case .string(let name) = try await talk.property(path, Self.interface, "Ifname"),
                    !Self.driversWithoutRadio.contains(driver), !name.hasPrefix("p2p-dev-")
                else { continue }
                adapters.append(path)
            } catch {
                // It may have gone in the meantime.
                if error.name == BusError.noReply.name { throw error }
            }
        }
        return adapters
    }

    package func accessPoints(
        of adapter: ObjectPath, _ talk: WirelessTalk
    ) async throws(BusError) -> [SeenAccessPoint]? {
        guard let paths = try await talk.property(adapter, Self.interface, "BSSs").paths else {
            throw .failed("its property “BSSs” is no list of paths")
        }
        return try await talk.properties(of: paths, Self.bss).compactMap { Self.accessPoint($0, talk.clock.now) }
    }

    private static func accessPoint(_ properties: [String: Variant], _ now: Duration) -> SeenAccessPoint? {
        // Ad-hoc and mesh networks are devices that move.
        guard [nil, .string("infrastructure")].contains(properties["Mode"]?.value),
            let address = properties["BSSID"]?.value.bytes, let name = properties["SSID"]?.value.bytes,
            case .int16(let signal) = properties["Signal"]?.value, case .uint32(let age) = properties["Age"]?.value
        else { return nil }
        var frequency = 0
        if case .uint16(let value) = properties["Frequency"]?.value { frequency = Int(value) }
        return SeenAccessPoint(
            name: name, address: address, signal: Int(signal), frequency: frequency, seenAt: now - .seconds(Int64(age)))
    }

    package func scan(with adapter: ObjectPath, _ talk: WirelessTalk) async throws(BusError) {
        // Passive: it takes longer, and sends nothing.
        try await talk.reply(adapter, Self.interface, "Scan", ["Type": Variant(.string("passive"))])
    }
}
