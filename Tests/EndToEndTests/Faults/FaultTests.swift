import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

/// The daemon beside neighbours that fail; `Tests/Faults.md` has all faults, and the times by a manual clock.
///
/// In each test the daemon answers while the fault lasts, which a loop that is blocked could not.
@Suite(.timeLimit(.minutes(2)))
struct FaultTests {
    init() { EventLoop.startThread() }

    /// The daemon, with a receiver that works and an application that follows it.
    @ServiceActor
    private final class Bench {
        let daemon: RunningDaemon
        private let client: GeoClueClient
        private var latitude = 48.0

        /// - Parameters:
        ///   - lookup: a script in the place of the lookup process, where that is needed.
        init(_ configuration: String, lookup: String? = nil, on bus: PrivateBus? = nil) async throws {
            daemon = try await RunningDaemon(on: bus, configuration: configuration, ["--debug"]) { folder in
                guard let lookup else { return [] }
                try? Self.install(lookup, in: folder)
                return ["sh", "-c", #"shift; exec "$0" "$@""#, folder.appending(path: "whereaboutsd").path]
            }
            client = try await GeoClueClient(on: daemon.bus)
            try await client.start()
            await daemon.feed.connected()
        }

        /// The daemon starts the lookup process that is beside it.
        private static func install(_ script: String, in folder: URL) throws {
            let built = URL(filePath: RunningDaemon.executable).deletingLastPathComponent()
            let lookup = ["whereabouts-lookup", "WhereaboutsLookup"].map { built.appending(path: $0) }.first {
                FileManager.default.isExecutableFile(atPath: $0.path)
            }
            try place(RunningDaemon.executable, at: folder.appending(path: "whereaboutsd").path)
            let file = folder.appending(path: "whereabouts-lookup").path
            if let lookup { try place(lookup.path, at: file + ".real") }
            try "#!/bin/sh\n\(script)\n".write(toFile: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }

        private static func place(_ program: String, at path: String) throws {
            // A copy takes its time, in which this process's loop stands still; a link is not to be had everywhere.
            if link(program, path) != 0 { try FileManager.default.copyItem(atPath: program, toPath: path) }
        }

        /// The daemon answers strangers within two seconds, and the application has the receiver's next fix.
        func goesOn() async throws {
            for method in ["\(GeoClueNames.manager.string).GetClient", "org.freedesktop.DBus.Peer.Ping"] {
                // A program of its own: the loop of this one serves other tests too.
                let stranger = try ChildProgram(
                    "dbus-send",
                    [
                        "--bus=\(daemon.bus.addressText)", "--print-reply", "--reply-timeout=2000",
                        "--dest=\(GeoClueNames.busName.string)", GeoClueNames.managerPath.string, method,
                    ])
                #expect(await stranger.ended() == .status(0), "\(method)")
                latitude += 0.01
                daemon.feed.send(latitude: latitude, longitude: 11)
                while abs((try await client.nextLocation().number("Latitude") ?? 0) - latitude) > 1e-6 {}
            }
        }

        func logged(_ text: String) async throws { _ = try await daemon.program.errors.next(containing: text) }

        func nextLocation() async throws -> [String: Variant] { try await client.nextLocation() }
    }

    private static func ip(_ server: NetworkServer) -> String { "[ip]\nurl=http://\(server.address)/v1/geolocate\n" }

    private static let installedLookup = #"exec "$0.real""#

    private static let wifi = "[wifi]\nenable=true\nurl=http://127.0.0.1:9/\n[ip]\nenable=false\n"

    // MARK: Lookup

    @Test("a lookup process that hangs is killed, and another one serves")
    @ServiceActor
    func lookupProcessHangs() async throws {
        let server = try await NetworkServer(.lookup, .works)
        let bench = try await Bench(
            Self.ip(server), lookup: #"if /bin/mkdir "$0.once"; then kill -STOP $$; fi; exec "$0.real""#)

        try await bench.goesOn()
        try await bench.logged("the lookup process hangs")
        try await bench.goesOn()

        try await bench.logged("the lookup process works again")
    }

    @Test("a lookup process that dies over its first request is replaced")
    @ServiceActor
    func lookupProcessDies() async throws {
        let server = try await NetworkServer(.lookup, .works)
        let bench = try await Bench(
            Self.ip(server), lookup: #"if /bin/mkdir "$0.once"; then read line; exit 1; fi; exec "$0.real""#)

        try await bench.logged("the lookup process has ended")
        try await bench.goesOn()

        try await bench.logged("the lookup process works again")
    }

    @Test("a lookup service that hangs is asked again")
    @ServiceActor
    func lookupServiceHangs() async throws {
        let server = try await NetworkServer(.lookup, .works)
        server.pause()
        let bench = try await Bench(Self.ip(server), lookup: Self.installedLookup)

        try await bench.goesOn()
        try await bench.logged("fails: no answer")
        try await bench.goesOn()
        server.resume()

        try await bench.logged("works again")
    }

    @Test(
        "a lookup service that floods, or refuses, is asked again", arguments: [NetworkServer.Manner.floods, .refuses])
    @ServiceActor
    func lookupServiceFails(manner: NetworkServer.Manner) async throws {
        let server = try await NetworkServer(.lookup, manner)
        let bench = try await Bench(Self.ip(server), lookup: Self.installedLookup)

        try await bench.logged("fails: no answer")
        try await bench.goesOn()
        server.recover()

        try await bench.logged("works again")
    }

    // MARK: Streams

    @Test(
        "a gpsd and a receiver that flood leave room for others", .serialized,
        arguments: [NetworkServer.Kind.gpsd, .nmea])
    @ServiceActor
    func streamFloods(kind: NetworkServer.Kind) async throws {
        let server = try await NetworkServer(kind, .floods)
        let bench = try await Bench(
            kind == .gpsd ? "[gpsd]\nenable=true\naddress=\(server.address)\n" : "[nmea]\ntcp=\(server.address)\n")

        try await bench.goesOn()
        server.recover()

        try await bench.goesOn()
    }

    @Test("a pipe in the place of the file with the place holds nobody up, and a file that replaces it counts at once")
    @ServiceActor
    func pipe() async throws {
        let bus = try await PrivateBus()
        let file = bus.folder.appending(path: "geolocation")
        #expect(mkfifo(file.path, 0o644) == 0)
        let bench = try await Bench("[static-source]\nenable=true\npath=\(file.path)\n", on: bus)

        try await bench.logged("not a regular file")
        try await bench.goesOn()
        try Data("48.03\n11\n55\n1\n".utf8).write(to: file, options: .atomic)

        while try await bench.nextLocation().number("Accuracy") != 1 {}
    }

    // MARK: The bus

    @Test(
        "a service on the bus that hangs is asked again",
        arguments: [
            ("org.freedesktop.NetworkManager", "GetDevices", wifi),
            ("org.freedesktop.ModemManager1", "GetManagedObjects", "[modem-gps]\nenable=true\n"),
        ])
    @ServiceActor
    func busServiceHangs(name: String, member: String, configuration: String) async throws {
        let bus = try await PrivateBus()
        let neighbour = try await BusNeighbour(try #require(BusName(name)), on: bus)
        let bench = try await Bench(configuration, on: bus)
        try await neighbour.called(member)

        try await bench.goesOn()

        try await neighbour.called(member)
        try await bench.goesOn()
    }

    @Test(
        "a service that refuses with each of its processes is one line in the log",
        arguments: [
            ("org.freedesktop.Avahi", "ServiceBrowserNew", "", "cannot look for"),
            ("org.freedesktop.ModemManager1", "GetManagedObjects", "[modem-gps]\nenable=true\n", "does not say which"),
            ("org.freedesktop.NetworkManager", "GetDevices", wifi, "does not tell of Wi-Fi"),
            ("org.freedesktop.NetworkManager", "GetAll", wifi, "NetworkManager does not say how"),
            ("fi.w1.wpa_supplicant1", "Get", wifi, "does not tell of Wi-Fi"),
            ("net.hadess.SensorProxy", "GetAll", "", "the compass cannot be used"),
            ("org.freedesktop.login1", "Inhibit", "", "does not let the service delay sleep"),
        ])
    @ServiceActor
    func busServiceRefuses(name: String, member: String, configuration: String, line: String) async throws {
        let bus = try await PrivateBus()
        let bench = try await Bench(configuration, on: bus)

        for _ in 0..<3 {
            let neighbour = try await BusNeighbour(try #require(BusName(name)), on: bus) { _ in [] }
            try await neighbour.called(member)
            try await bench.goesOn()
            neighbour.die()
        }

        let log = bench.daemon.program.errors.text
        #expect(log.split(separator: "\n").count { $0.contains(line) } == 1, "\(log)")
    }

    @Test("a logind that hangs keeps nobody waiting, and one that takes its place is asked at once")
    @ServiceActor
    func logindHangs() async throws {
        let bus = try await PrivateBus()
        let login1 = try await BusNeighbour("org.freedesktop.login1", on: bus)
        // Without a rule, nobody starts before it is known who is logged in.
        let bench = try await Bench("[org.example.Maps]\nallowed=true\nsystem=false\nusers=\n", on: bus)
        try await login1.called("Inhibit")

        try await bench.goesOn()
        login1.die()
        let next = try await BusNeighbour("org.freedesktop.login1", on: bus)

        try await next.called("Inhibit")
        try await bench.goesOn()
    }

    @Test("a wpa_supplicant that dies midway is followed when it is back")
    @ServiceActor
    func supplicantDies() async throws {
        let bus = try await PrivateBus()
        let supplicant = try await BusNeighbour("fi.w1.wpa_supplicant1", on: bus)
        let bench = try await Bench(Self.wifi, on: bus)
        try await supplicant.called("Get")

        supplicant.die()
        try await bench.goesOn()
        let next = try await BusNeighbour("fi.w1.wpa_supplicant1", on: bus)

        try await next.called("Get")
        try await bench.goesOn()
    }

    @Test("a wpa_supplicant that floods is asked no more often than once a second")
    @ServiceActor
    func supplicantFloods() async throws {
        let bus = try await PrivateBus()
        let root: ObjectPath = "/fi/w1/wpa_supplicant1"
        let supplicant = try await BusNeighbour("fi.w1.wpa_supplicant1", on: bus) { _ in
            [.variant(.array(of: ObjectPath.signature, []))]
        }
        let bench = try await Bench(Self.wifi, on: bus)
        try await supplicant.called("Get")
        let before = supplicant.count

        for _ in 0..<5000 {
            try supplicant.emit(
                root, "fi.w1.wpa_supplicant1", "InterfaceAdded", root, [String: Variant]())
        }
        try await bench.goesOn()

        try await supplicant.called("Get")
        #expect(supplicant.count - before < 100)
    }

    @Test("an Avahi that floods is asked no more than 32 things at a time, and one that takes its place at once")
    @ServiceActor
    func avahiFloods() async throws {
        let bus = try await PrivateBus()
        let browser: ObjectPath = "/Client1/ServiceBrowser1"
        let avahi = try await BusNeighbour("org.freedesktop.Avahi", on: bus) { message in
            message.member?.string == "ServiceBrowserNew" ? [.objectPath(browser)] : nil
        }
        let bench = try await Bench("", on: bus)
        try await avahi.called("ServiceBrowserNew")

        for number in 0..<5000 {
            try avahi.emit(
                browser, "org.freedesktop.Avahi.ServiceBrowser", "ItemNew", Int32(1), Int32(0),
                "service \(number % 7)", "_nmea-0183._tcp", "local", UInt32(4))
        }
        try await avahi.called("ServiceResolverNew")
        try await bench.goesOn()
        #expect(avahi.count == 1 + 32)
        avahi.die()
        let next = try await BusNeighbour("org.freedesktop.Avahi", on: bus)

        try await next.called("ServiceBrowserNew")
        try await bench.goesOn()
    }
}
