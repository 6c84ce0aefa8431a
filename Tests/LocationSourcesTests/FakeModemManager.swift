import DBus
import DBusTestSupport
import EventLoop

/// Stands in for ModemManager: has the modems that a test plugs in.
@ServiceActor
final class FakeModemManager: BusObject {
    typealias Interfaces = [String: [String: Variant]]

    private static let interface = Interface<FakeModemManager>("org.freedesktop.DBus.ObjectManager") {
        Method("GetManagedObjects", returns: "objects", access: .anyone, body: FakeModemManager.getManagedObjects)
    }

    static let root: ObjectPath = "/org/freedesktop/ModemManager1"

    private(set) var modems: [FakeModem] = []
    /// What becomes of the question which modems there are.
    var behaviour = FakeBehaviour()
    private(set) var questions = 0

    let connection: Connection
    private var nextNumber = 0

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    /// Takes the name only with ``start()``.
    init(_ connection: Connection) {
        self.connection = connection
        connection.objects.add(self, at: Self.root)
    }

    func start() async throws { try await connection.takeName("org.freedesktop.ModemManager1") }

    /// Ends with all its modems, as a program that is killed.
    func die() { connection.close() }

    @discardableResult
    func plug(capabilities: UInt32 = 7, enabled: UInt32 = 0, signals: Bool = false, state: Int32 = 8) -> FakeModem {
        let path = ObjectPath("\(Self.root)/Modem/\(nextNumber)") ?? .root
        nextNumber += 1
        let modem = FakeModem(
            path, connection, capabilities: capabilities, enabled: enabled, signals: signals, state: state)
        modems.append(modem)
        connection.objects.add(modem, at: path)
        try? connection.emit(
            Self.root, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", to: nil, path, modem.properties)
        return modem
    }

    func unplug(_ modem: FakeModem) {
        modems.removeAll { $0 === modem }
        connection.objects.remove(at: modem.path)
        try? connection.emit(
            Self.root, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", to: nil, modem.path,
            Array(modem.properties.keys))
    }

    private func getManagedObjects(_ call: MethodCall) async throws -> [ObjectPath: Interfaces] {
        questions += 1
        try await behaviour.take()
        return Dictionary(uniqueKeysWithValues: modems.map { ($0.path, $0.properties) })
    }
}

/// What becomes of a call.
@ServiceActor
final class FakeBehaviour {
    var refusal: BusError?
    private(set) var isHanging = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func hang() { isHanging = true }

    /// Goes on with all that hangs.
    func release() {
        isHanging = false
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// - Parameter refusal: the answer when it refuses.
    func become(_ manner: Manner, refusal: BusError = .accessDenied("not you")) {
        self.refusal = manner == .refuses ? refusal : nil
        if manner == .hangs { hang() } else { release() }
    }

    func take() async throws {
        if isHanging { await withCheckedContinuation { waiting.append($0) } }
        if let refusal { throw refusal }
    }
}

/// One modem of a ``FakeModemManager``.
@ServiceActor
final class FakeModem: BusObject {
    struct Setup: Equatable {
        var sources: UInt32
        var signals: Bool
    }

    private static let modem = Interface<FakeModem>("org.freedesktop.ModemManager1.Modem") {
        Method("Enable", "enable", access: .anyone, body: FakeModem.enable)
        Property("AccessTechnologies", access: .anyone) { $0.technologies }
    }

    private static let location = Interface<FakeModem>("org.freedesktop.ModemManager1.Modem.Location") {
        Method("Setup", "sources", "signal_location", access: .anyone, body: FakeModem.setUp)
        Method("GetLocation", returns: "Location", access: .anyone, body: FakeModem.getLocation)
        Method("SetGpsRefreshRate", "rate", access: .anyone, body: FakeModem.setRefreshRate)
    }

    static let unauthorized = BusError("org.freedesktop.ModemManager1.Error.Core.Unauthorized", "not you")
    static let wrongState = BusError("org.freedesktop.ModemManager1.Error.Core.WrongState", "device not enabled yet")

    static let unsupported = BusError("org.freedesktop.ModemManager1.Error.Core.Unsupported", "unsupported")

    let path: ObjectPath
    /// What it tells of the sources that are on.
    var positions: [UInt32: Variant] = [:]
    /// LTE.
    var technologies: UInt32 = 1 << 14
    private(set) var enabled: UInt32
    private(set) var setups: [Setup] = []
    private(set) var reads = 0
    /// Calls that nobody should make.
    private(set) var misuse = 0
    var setupBehaviour = FakeBehaviour()
    var readBehaviour = FakeBehaviour()

    private let connection: Connection
    private let capabilities: UInt32
    private let signals: Bool
    private var state: Int32

    var interfaces: [any ServedInterface] { [Bound(Self.modem, to: self), Bound(Self.location, to: self)] }

    init(
        _ path: ObjectPath, _ connection: Connection, capabilities: UInt32, enabled: UInt32, signals: Bool, state: Int32
    ) {
        (self.path, self.connection, self.capabilities) = (path, connection, capabilities)
        (self.enabled, self.signals, self.state) = (enabled, signals, state)
    }

    var properties: FakeModemManager.Interfaces {
        [
            "org.freedesktop.ModemManager1.Modem": ["State": Variant(.int32(state))],
            "org.freedesktop.ModemManager1.Modem.Location": [
                "Capabilities": Variant(.uint32(capabilities)), "Enabled": Variant(.uint32(enabled)),
                "SignalsLocation": Variant(.bool(signals)),
            ],
        ]
    }

    /// Another program sets the mask.
    func become(enabled mask: UInt32) {
        enabled = mask
        announce("org.freedesktop.ModemManager1.Modem.Location", "Enabled", .uint32(mask))
    }

    func become(state: Int32) {
        self.state = state
        announce("org.freedesktop.ModemManager1.Modem", "State", .int32(state))
    }

    /// As a change of the signal's strength does.
    func giveSign() {
        announce("org.freedesktop.ModemManager1.Modem", "SignalQuality", .structure([.uint32(50), .bool(true)]))
    }

    func tell(nmea sentences: String...) { positions[4] = Variant(.string(sentences.joined())) }

    func tell(cell text: String) { positions[1] = Variant(.string(text)) }

    func tell(_ source: UInt32, latitude: Double, longitude: Double, time: String? = nil) {
        var entries = [("latitude", Value.double(latitude)), ("longitude", .double(longitude))]
        if let time { entries.append(("utc-time", .string(time))) }
        positions[source] = Variant(
            .dictionary(
                key: String.signature, value: Variant.signature,
                entries.map { Value.Entry(key: .string($0), value: .variant($1)) }))
    }

    private func announce(_ interface: InterfaceName, _ name: String, _ value: Value) {
        try? connection.emitPropertiesChanged(
            path, interface, to: nil, [Value.Entry(key: .string(name), value: .variant(value))])
    }

    private func setUp(_ call: MethodCall, sources: UInt32, signals: Bool) async throws {
        setups.append(Setup(sources: sources, signals: signals))
        try await setupBehaviour.take()
        guard sources & ~capabilities == 0 else { throw Self.unsupported }
        become(enabled: sources)
    }

    private func getLocation(_ call: MethodCall) async throws -> [UInt32: Variant] {
        reads += 1
        try await readBehaviour.take()
        return positions.filter { $0.key & enabled != 0 }
    }

    private func enable(_ call: MethodCall, enable: Bool) { misuse += 1 }

    private func setRefreshRate(_ call: MethodCall, rate: UInt32) { misuse += 1 }
}
