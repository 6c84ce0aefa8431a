import EventLoop
import LocationTestSupport

@testable import DBus
@testable import LocationSources

/// The two services that know what Wi-Fi adapters hear.
enum WirelessKind: CaseIterable {
    case wpaSupplicant, networkManager

    @ServiceActor var service: any WirelessService {
        switch self {
        case .wpaSupplicant: WPASupplicant()
        case .networkManager: NetworkManagerWiFi()
        }
    }
}

/// An access point as a test makes it up.
struct FakeAccessPoint: Sendable {
    var address: UInt64
    var name = Array("home".utf8)
    var signal = -55
    var frequency = 2412
    /// In seconds, when the scan ends.
    var age = 0
    /// In the words of each service; `nil` for what stays where it is.
    var mode: Value?
}

/// Stands in for wpa_supplicant or NetworkManager, and does with each call what a test says.
@ServiceActor
final class FakeWireless {
    enum Behaviour {
        case answers
        /// Takes calls, and answers them when it comes back to itself.
        case hangs
        case hangsOn(String)
        case refuses(BusError)
    }

    struct Adapter {
        var name: String
        /// Of wpa_supplicant.
        var driver = "nl80211"
        /// Of NetworkManager.
        var type: UInt32 = 2
        var points: [(point: FakeAccessPoint, seenAt: Duration)] = []
    }

    var behaviour = Behaviour.answers { didSet { answerHeld() } }
    /// The answer to a request for a scan.
    var scanError: BusError?
    /// What every scan that is asked for hears. Without it such a scan never ends.
    var surroundings: [FakeAccessPoint]?
    /// What each access point says of itself instead of the truth.
    var lie: [String: Variant]?
    private(set) var adapters: [Adapter] = []
    /// The members called, `Get` and `GetAll` with what they ask for.
    private(set) var calls: [String] = []
    private(set) var scanArguments: [Value] = []

    let kind: WirelessKind
    private let clock: any Clock
    private var transport: Transport!
    private var held: [Message] = []
    private var ownsName = false

    init(_ kind: WirelessKind, on bus: BusAddress, clock: any Clock, adapters: [Adapter] = [Adapter(name: "wlan0")])
        async throws
    {
        self.kind = kind
        self.clock = clock
        self.adapters = adapters
        transport = try Transport(bus) { [weak self] in self?.receive($0) }
        let request = Message.methodCall(
            to: .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName")
        try request.append(kind.service.busName.string, UInt32(4))
        transport.send(request)
        await until { self.ownsName }
    }

    /// Leaves the bus, as when the process ends.
    func leave() { transport.close() }

    func count(_ call: String) -> Int { calls.count { $0 == call } }

    var scanRequests: Int { count("Scan") + count("RequestScan") }
    var listReadings: Int { count("Get BSSs") + count("GetAllAccessPoints") }
    var pointReadings: Int { count("GetAll") }

    // MARK: What happens to it

    func add(_ adapter: Adapter) throws {
        adapters.append(adapter)
        let path = adapterPath(adapters.count - 1)
        switch kind {
        case .wpaSupplicant: try emit(root, manager, "InterfaceAdded", path, [String: Variant]())
        case .networkManager: try emit(root, manager, "DeviceAdded", path)
        }
    }

    /// Removes the last one.
    func removeAdapter() throws {
        adapters.removeLast()
        let path = adapterPath(adapters.count)
        try emit(root, manager, kind == .wpaSupplicant ? "InterfaceRemoved" : "DeviceRemoved", path)
    }

    /// An adapter has scanned, for whomever.
    func scanned(_ points: [FakeAccessPoint], by adapter: Int = 0) throws {
        adapters[adapter].points = points.map { ($0, clock.now - .seconds($0.age)) }
        try announceScan(by: adapter)
    }

    /// - Parameter isComplete: what wpa_supplicant says of it.
    func announceScan(by adapter: Int = 0, isComplete: Bool = true) throws {
        let path = adapterPath(adapter)
        switch kind {
        case .wpaSupplicant: try emit(path, "fi.w1.wpa_supplicant1.Interface", "ScanDone", isComplete)
        case .networkManager:
            let milliseconds = Int64(clock.now / .milliseconds(1))
            try emit(
                path, .properties, "PropertiesChanged", "org.freedesktop.NetworkManager.Device.Wireless",
                ["LastScan": Variant(.int64(milliseconds))], [String]())
        }
    }

    private func emit<each T: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ values: repeat each T
    ) throws {
        let signal = Message.signal(path, interface, member, to: nil)
        try signal.append(repeat each values)
        transport.send(signal)
    }

    // MARK: Calls

    private func receive(_ message: Message) {
        switch message.kind {
        case .methodReturn: ownsName = true
        case .methodCall:
            let member = message.member!.string
            let words = (try? message.readValues())?.compactMap { if case .string(let word) = $0 { word } else { nil } }
            calls.append(member == "Get" ? "Get \(words?.last ?? "")" : member)
            if member == "Scan" || member == "RequestScan" {
                scanArguments = (try? message.readValues()) ?? []
            }
            take(message)
        default: break
        }
    }

    private func take(_ message: Message) {
        switch behaviour {
        case .answers: answer(message)
        case .hangs: held.append(message)
        case .hangsOn(let member): if calls.last == member { held.append(message) } else { answer(message) }
        case .refuses(let error): transport.send(.error(error, to: message.sender!, serial: message.serial))
        }
    }

    private func answerHeld() {
        guard case .answers = behaviour else { return }
        let messages = held
        held = []
        for message in messages { answer(message) }
    }

    private func answer(_ message: Message) {
        let caller = message.sender!
        do {
            let reply = Message.methodReturn(to: caller, serial: message.serial)
            if let value = try result(message) { try reply.append(value) }
            transport.send(reply)
            if let surroundings, ["Scan", "RequestScan"].contains(message.member!.string) {
                try scanned(surroundings)
            }
        } catch {
            transport.send(.error(BusError(handlerError: error), to: caller, serial: message.serial))
        }
    }

    private func result(_ message: Message) throws -> Value? {
        let path = message.path!
        let gone = BusError("org.freedesktop.DBus.Error.UnknownObject", "no such object")
        switch message.member!.string {
        case "GetDevices": return paths(adapters.indices.map { adapterPath($0) })
        case "GetAllAccessPoints": return paths(try pointPaths(of: path))
        case "Scan", "RequestScan":
            if let scanError { throw scanError }
            return nil
        case "Get":
            let (_, name) = try message.read(as: String.self, String.self)
            if name == "Interfaces" { return .variant(paths(adapters.indices.map { adapterPath($0) })) }
            if name == "BSSs" { return .variant(paths(try pointPaths(of: path))) }
            guard let adapter = adapters.indices.first(where: { adapterPath($0) == path }) else { throw gone }
            switch name {
            case "Driver": return .variant(.string(adapters[adapter].driver))
            case "Ifname": return .variant(.string(adapters[adapter].name))
            case "DeviceType": return .variant(.uint32(adapters[adapter].type))
            default: throw BusError.invalidArguments("no such property")
            }
        case "GetAll":
            for adapter in adapters.indices {
                for (index, entry) in adapters[adapter].points.enumerated() where pointPath(adapter, index) == path {
                    return properties(entry.point, entry.seenAt)
                }
            }
            throw gone
        default: throw BusError.unknownMethod("no such method")
        }
    }

    private func properties(_ point: FakeAccessPoint, _ seenAt: Duration) -> Value {
        let bytes = (0..<6).reversed().map { UInt8(point.address >> ($0 * 8) & 0xFF) }
        let truth: [String: Value] =
            switch kind {
            case .wpaSupplicant:
                [
                    "BSSID": .array(of: UInt8.signature, bytes.map { .byte($0) }),
                    "SSID": .array(of: UInt8.signature, point.name.map { .byte($0) }),
                    "Signal": .int16(Int16(point.signal)), "Frequency": .uint16(UInt16(point.frequency)),
                    "Age": .uint32(UInt32((clock.now - seenAt) / .seconds(1))),
                    "Mode": point.mode ?? .string("infrastructure"),
                ]
            case .networkManager:
                [
                    "HwAddress": .string(
                        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
                            .joined(separator: ":")),
                    "Ssid": .array(of: UInt8.signature, point.name.map { .byte($0) }),
                    // As NetworkManager reckons.
                    "Strength": .byte(UInt8(100 - Int(100 * Double(-40 - max(-100, min(-40, point.signal))) / 60))),
                    "Frequency": .uint32(UInt32(point.frequency)), "LastSeen": .int32(Int32(seenAt / .seconds(1))),
                    "Mode": point.mode ?? .uint32(2),
                ]
            }
        let entries = truth.merging(lie?.mapValues(\.value) ?? [:]) { $1 }
        return .dictionary(
            key: String.signature, value: Variant.signature,
            entries.map { Value.Entry(key: .string($0), value: .variant($1)) })
    }

    private var root: ObjectPath {
        kind == .wpaSupplicant ? "/fi/w1/wpa_supplicant1" : "/org/freedesktop/NetworkManager"
    }

    private var manager: InterfaceName {
        kind == .wpaSupplicant ? "fi.w1.wpa_supplicant1" : "org.freedesktop.NetworkManager"
    }

    private func adapterPath(_ index: Int) -> ObjectPath {
        root.appending(kind == .wpaSupplicant ? "Interfaces" : "Devices").appending("\(index)")
    }

    private func pointPath(_ adapter: Int, _ index: Int) -> ObjectPath {
        switch kind {
        case .wpaSupplicant: adapterPath(adapter).appending("BSSs").appending("\(index)")
        case .networkManager: root.appending("AccessPoint").appending("\(adapter * 100_000 + index)")
        }
    }

    private func pointPaths(of path: ObjectPath) throws -> [ObjectPath] {
        guard let adapter = adapters.indices.first(where: { adapterPath($0) == path }) else {
            throw BusError("org.freedesktop.DBus.Error.UnknownObject", "no such object")
        }
        return adapters[adapter].points.indices.map { pointPath(adapter, $0) }
    }

    private func paths(_ paths: [ObjectPath]) -> Value {
        .array(of: ObjectPath.signature, paths.map { .objectPath($0) })
    }
}
