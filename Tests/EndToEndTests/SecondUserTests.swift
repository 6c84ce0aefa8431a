import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SecondUserTests {
    init() { EventLoop.startThread() }

    /// The one user that every system has and nobody is.
    static let nobody: UInt32 = 65534

    @Test(
        "under our bus policy a second user receives no signal that names a client, an application or a coordinate",
        .enabled(if: getuid() == 0, "another user's process needs root"))
    @ServiceActor
    func secondUser() async throws {
        let daemon = try await RunningDaemon(try Self.busConfiguration())
        let spy = try ChildProgram(
            "dbus-monitor", ["--address", daemon.bus.addressText, "type='signal'"], as: Self.nobody)
        let herald = try daemon.bus.connect()
        try await Self.prove(spy, sees: herald, "before")

        let client = try await GeoClueClient(on: daemon.bus, desktopID: "org.example.Secret")
        try await client.start()
        await daemon.feed.connected()
        for latitude in [48.1173, 48.2173, 48.3173] {
            daemon.feed.send(latitude: latitude, longitude: 11.5167)
            _ = try await client.nextLocation()
        }
        try await client.stop()
        try await client.connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "DeleteClient", client.path)
        // The bus keeps the order, so what the spy was to get has come once it has this one.
        try await Self.prove(spy, sees: herald, "after")

        let heard = Self.signals(in: spy.output.text).filter { !$0.contains("org.example.Herald") }
        for word in [
            "/org/freedesktop/GeoClue2/Client", "org.freedesktop.GeoClue2.Client", "org.freedesktop.GeoClue2.Location",
            "LocationUpdated", "Secret", "48.1", "48.2", "48.3", "11.5", "Latitude",
        ] {
            #expect(!heard.contains { $0.contains(word) }, "\(word)")
        }
        // It does hear what the service says to everybody.
        #expect(heard.contains { $0.contains("InUse") })
        await spy.stop()
    }

    @Test(
        "no coordinate that anybody was told is in the daemon's log at its most talkative, nor in what it stores",
        .enabled(if: getuid() == 0, "another user's process needs root"))
    @ServiceActor
    func digits() async throws {
        let daemon = try await RunningDaemon(try Self.busConfiguration(), ["--debug"])
        let fine = try await GeoClueClient(on: daemon.bus)
        let coarse = try await GeoClueClient(on: daemon.bus, desktopID: "org.example.Weather", level: 4)
        for client in [fine, coarse] { try await client.start() }
        let second = try ChildProgram(
            RunningDaemon.command, ["watch", "--bus", daemon.bus.addressText], as: Self.nobody)
        await daemon.feed.connected()
        var told: [Double] = []

        // Until the second user has it, too.
        while !second.output.text.contains("48.1173") {
            daemon.feed.send(latitude: 48.1173 + Double(told.count) * 1e-8, longitude: 11.5167)
            told += try await fine.nextLocation().place
        }
        told += try await coarse.nextLocation().place
        // What is to be thought of a leap is logged.
        daemon.feed.send(latitude: -33.8568, longitude: 151.2153)
        await daemon.feed.read()
        try await fine.connection.call(
            "org.whereabouts1.Control", "/org/whereabouts1/Control", "org.whereabouts1.Control", "SetRecord",
            "claimed:org.example.Weather", ["decision": Variant(.string("allow"))])
        daemon.program.send(signal: SIGUSR1)
        _ = try await daemon.program.errors.next(containing: "clients")
        daemon.program.send(signal: SIGTERM)
        let log = Data(await daemon.program.errors.wholeText().utf8)
        let store = try FileManager.default.contentsOfDirectory(atPath: daemon.bus.folder.path)
            .filter { $0.hasPrefix("authorizations.db") }
            .map { try Data(contentsOf: daemon.bus.folder.appending(path: $0)) }

        #expect(log.range(of: Data("<7>".utf8)) != nil)
        #expect(store.contains { $0.range(of: Data("org.example.Weather".utf8)) != nil })
        #expect(Self.digits(of: told).contains { Data(second.output.text.utf8).range(of: $0) != nil })
        for digits in Self.digits(of: told + [-33.8568, 151.2153]) {
            for place in [log] + store { #expect(place.range(of: digits) == nil, "\(digits)") }
        }
        await second.stop()
    }

    /// How angles would show: as decimals, in degrees and minutes as receivers give them, and as bytes of memory.
    private static func digits(of angles: [Double]) -> [Data] {
        Set(angles).flatMap { angle in
            let minutes = (angle.magnitude - angle.magnitude.rounded(.down)) * 60
            let texts = [
                String(format: "%.3f", (angle.magnitude * 1000).rounded(.down) / 1000),
                String(format: "%d%05.2f", Int(angle.magnitude), (minutes * 100).rounded(.down) / 100),
            ]
            let bytes = withUnsafeBytes(of: angle.bitPattern.bigEndian) { Data($0) }
            return texts.map { Data($0.utf8) } + [bytes, Data(bytes.reversed())]
        }
    }

    /// Broadcasts what a careless service would, until the spy has it. A subscription takes a moment, which the spy
    /// does not announce.
    @ServiceActor
    private static func prove(_ spy: ChildProgram, sees herald: Connection, _ word: String) async throws {
        let path: ObjectPath = "/org/freedesktop/GeoClue2/Client/1"
        while !spy.output.text.contains(word) {
            try herald.emit(path, "org.example.Herald", "LocationUpdated", to: nil, 48.1173, "Latitude", word)
            try await herald.settle()
        }
        let proof = signals(in: spy.output.text).filter { $0.contains("org.example.Herald") }
        #expect(proof.contains { $0.contains(path.string) && $0.contains("48.1173") && $0.contains(word) })
    }

    /// The signals that dbus-monitor has printed, with their arguments. Each begins with the time, which is left out: its
    /// digits may be any.
    private static func signals(in text: String) -> [String] {
        text.components(separatedBy: "\nsignal time=").dropFirst().map { String($0.drop { $0 != " " }) }
    }

    /// The stock policy with ours; the daemon of this test is root's.
    private static func busConfiguration() throws -> BusConfiguration {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../dbus/org.freedesktop.GeoClue2.conf")
        let policy = try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "user=\"whereabouts\"", with: "user=\"root\"")
        let ours = policy.components(separatedBy: "<busconfig>")[1].components(separatedBy: "</busconfig>")[0]
        return BusConfiguration(policy: BusConfiguration.systemPolicy + ours)
    }
}

extension [String: Variant] {
    fileprivate var place: [Double] { ["Latitude", "Longitude"].compactMap { number($0) } }
}
