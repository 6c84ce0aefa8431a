import DBus
import EventLoop

/// NetworkManager, which everybody may ask, but which only has percentages (its D-Bus API, 1.42).
package struct NetworkManagerWiFi: WirelessService {
    private static let root: ObjectPath = "/org/freedesktop/NetworkManager"
    private static let manager: InterfaceName = "org.freedesktop.NetworkManager"
    private static let device: InterfaceName = "org.freedesktop.NetworkManager.Device"
    private static let wireless: InterfaceName = "org.freedesktop.NetworkManager.Device.Wireless"
    private static let accessPoint: InterfaceName = "org.freedesktop.NetworkManager.AccessPoint"

    /// `NM_DEVICE_TYPE_WIFI`.
    private static let wirelessType: UInt32 = 2
    /// `NM_802_11_MODE_INFRA`; ad-hoc and mesh networks are devices that move.
    private static let infrastructureMode: UInt32 = 2

    package init() {}

    package var busName: BusName { "org.freedesktop.NetworkManager" }

    package func adapterSignals(of owner: BusName) -> [MatchRule] {
        ["DeviceAdded", "DeviceRemoved"].map {
            MatchRule(sender: owner, path: Self.root, interface: Self.manager, member: $0)
        }
    }

    package func scanSignals(of owner: BusName) -> [MatchRule] {
        [
            MatchRule.propertiesChanged(of: Self.wireless, from: owner)
        ]
    }

    /// It tells of the end of a scan before or after it tells of what was heard.
    package func news(in signal: Message) -> WirelessNews? {
        guard let (_, changed) = try? signal.read(as: String.self, [String: Variant].self, sizeLimit: 1 << 20) else {
            return nil
        }
        return changed["LastScan"] != nil ? .scan : changed["AccessPoints"] != nil ? .list : nil
    }

    package func adapters(_ talk: WirelessTalk) async throws(BusError) -> [ObjectPath] {
        var adapters: [ObjectPath] = []
        let devices = try await talk.call(Self.root, Self.manager, "GetDevices", returning: [ObjectPath].self)
        for path in devices.prefix(WirelessTalk.mostDevices) {
            do throws(BusError) {
                let type = try await talk.property(path, Self.device, "DeviceType")
                if type == .uint32(Self.wirelessType) { adapters.append(path) }
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
        let paths = try await talk.call(adapter, Self.wireless, "GetAllAccessPoints", returning: [ObjectPath].self)
        let list = try await talk.properties(of: paths, Self.accessPoint).compactMap {
            Self.accessPoint($0, talk.clock.now)
        }
        return !list.isEmpty && list.allSatisfy(\.isMadeUp) ? nil : list
    }

    private static func accessPoint(_ properties: [String: Variant], _ now: Duration) -> SeenAccessPoint? {
        guard [nil, .uint32(infrastructureMode)].contains(properties["Mode"]?.value),
            case .string(let text) = properties["HwAddress"]?.value, let name = properties["Ssid"]?.value.bytes,
            case .byte(let percent) = properties["Strength"]?.value, percent <= 100,
            // In seconds since boot; -1 for never.
            case .int32(let lastSeen) = properties["LastSeen"]?.value, lastSeen >= 0
        else { return nil }
        var frequency = 0
        if case .uint32(let value) = properties["Frequency"]?.value { frequency = Int(value) }
        return SeenAccessPoint(
            name: name, address: bytes(text), signal: signal(percent), frequency: frequency,
            seenAt: min(.seconds(Int64(lastSeen)), now))
    }

    /// In dBm. NetworkManager takes -40 for 100 % and -100 for none, and cuts off what is above.
    private static func signal(_ percent: UInt8) -> Int { -40 - (3 * (100 - Int(percent)) + 2) / 5 }

    /// The bytes of an address such as `0A:1B:…`; of any other text, not six.
    private static func bytes(_ address: String) -> [UInt8] {
        address.split(separator: ":", omittingEmptySubsequences: false).compactMap {
            $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil
        }
    }

    package func scan(with adapter: ObjectPath, _ talk: WirelessTalk) async throws(BusError) {
        try await talk.reply(adapter, Self.wireless, "RequestScan", [String: Variant]())
    }
}

extension SeenAccessPoint {
    /// Whether it looks like those that NetworkManager makes up where iwd, which tells no addresses, is behind it.
    fileprivate var isMadeUp: Bool { accessPoint.address >> 24 == 0x000102 && accessPoint.frequency == 2417 }
}
