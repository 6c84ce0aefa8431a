import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import LocationTestSupport
import Testing

/// A bus with nothing on it, which starts the daemon when somebody asks for it.
@Suite(.timeLimit(.minutes(1)))
struct ActivationTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let folder: URL
        let bus: PrivateBus

        var log: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

        /// Everything is on that looks for a neighbour.
        init() async throws {
            let folder = TestFolder.unused("activation")
            self.folder = folder
            let services = folder.appending(path: "services")
            try FileManager.default.createDirectory(at: services, withIntermediateDirectories: true)
            let program = folder.appending(path: "start").path
            func write(_ text: String, to name: String) throws {
                try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            }
            try write(
                """
                [gpsd]
                enable=true
                address=127.0.0.1:9
                [network-nmea]
                enable=true
                [static-source]
                path=\(folder.path)/geolocation
                [time-zone]
                enable=true
                [lookup]
                providers=http://127.0.0.1:9/v1/geolocate
                """, to: "whereabouts.conf")
            try write(
                """
                exec '\(RunningDaemon.executable)' --bus "$DBUS_STARTER_ADDRESS" --config '\(folder.path)/whereabouts.conf' \
                --state-directory '\(folder.path)' --timeout 0 2>'\(folder.path)/log'
                """, to: "start")
            try write(
                "[D-BUS Service]\nName=\(GeoClueNames.busName)\nExec=/bin/sh \(program)\n",
                to: "services/org.freedesktop.GeoClue2.service")
            let include = folder.appending(path: "activation.conf")
            try write("<busconfig><servicedir>\(services.path)</servicedir></busconfig>", to: "activation.conf")
            bus = try await PrivateBus(BusConfiguration(policyFiles: [include.path]))
        }

        isolated deinit { try? FileManager.default.removeItem(at: folder) }
    }

    @Test("whoever's question starts it is told what can be had, and not that nothing can yet")
    @ServiceActor
    func firstQuestion() async throws {
        let bench = try await Bench()
        try "48.1\n11.5\n500\n20\n".write(
            to: bench.folder.appending(path: "geolocation"), atomically: true, encoding: .utf8)
        let connection = try bench.bus.connect()

        let level = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, "org.freedesktop.DBus.Properties", "Get",
            GeoClueNames.manager.string, "AvailableAccuracyLevel", returning: Variant.self)

        #expect(level.value == .uint32(8))
    }

    @Test("started by the first call it answers that within two seconds, and complains of no neighbour twice")
    @ServiceActor
    func coldStart() async throws {
        let bench = try await Bench()
        let connection = try bench.bus.connect()
        func introspect(_ path: ObjectPath) async throws -> String {
            try await connection.call(
                GeoClueNames.busName, path, "org.freedesktop.DBus.Introspectable", "Introspect", returning: String.self)
        }

        let path = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "GetClient",
            returning: ObjectPath.self, timeout: .seconds(2))
        #expect(try await introspect(GeoClueNames.managerPath).contains("org.freedesktop.GeoClue2.Manager"))
        #expect(try await introspect(path).contains("org.freedesktop.GeoClue2.Client"))
        let client = try await GeoClueClient(connection: connection)
        try await client.start()
        try await connection.settle()

        let lines = bench.log.split(separator: "\n")
        for neighbour in [
            "login1", "logind", "NetworkManager", "ModemManager", "wpa_supplicant", "Avahi", "olicy", "polkit", "gpsd",
            "lookup", "time-zone",
        ] {
            let said = lines.filter { $0.contains(neighbour) }
            #expect(said.count <= 1, "\(said)")
        }
        #expect(lines.allSatisfy { $0.hasPrefix("<4>") || $0.hasPrefix("<5>") || $0.hasPrefix("<6>") }, "\(lines)")
    }
}
