import DBus
import DBusTestSupport
import EventLoop
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ReloadTests {
    init() { EventLoop.startThread() }

    @Test("a reload takes up another receiver while an application waits, without a new Start")
    @ServiceActor
    func otherReceiver() async throws {
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        await daemon.feed.connected()
        let folder = daemon.bus.folder.appending(path: "other")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let other = try NMEAFeed(in: folder)

        try RunningDaemon.configuration("", nmeaSocket: other.path).write(
            to: daemon.configurationFile, atomically: true, encoding: .utf8)
        daemon.program.send(signal: SIGHUP)
        await other.connected()
        other.send(latitude: 10.5, longitude: 20)

        let location = try await client.nextLocation()
        #expect(abs((location.number("Latitude") ?? 0) - 10.5) < 1e-6)
    }

    @Test("a set place counts from the moment its file is there")
    @ServiceActor
    func setPlace() async throws {
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        let file = daemon.bus.folder.appending(path: "geolocation")

        try
            (RunningDaemon.configuration("", nmeaSocket: daemon.feed.path).replacing(
                "[static-source]\nenable=false", with: "[static-source]\npath=\(file.path)"))
            .write(to: daemon.configurationFile, atomically: true, encoding: .utf8)
        daemon.program.send(signal: SIGHUP)
        try Data("10.5\n20.5\n55\n30\n".utf8).write(to: file, options: .atomic)

        let location = try await client.nextLocation()
        #expect(location.number("Latitude") == 10.5 && location.number("Accuracy") == 30)
        #expect(location.number("Altitude") == 55)
    }

    @Test(
        "a reload that cannot read the whole configuration leaves the one in force, and what it forbids",
        arguments: ["[network-nmea\nenable=true\n", "", "\u{0}"])
    @ServiceActor
    func brokenFile(contents: String) async throws {
        let daemon = try await RunningDaemon(
            configuration: "[org.example.Maps]\nallowed=false\nsystem=false\nusers=\n")
        let client = try await GeoClueClient(on: daemon.bus)

        try FileManager.default.removeItem(at: daemon.configurationFile)
        if !contents.isEmpty {
            try contents.write(to: daemon.configurationFile, atomically: true, encoding: .utf8)
        }
        daemon.program.send(signal: SIGHUP)
        _ = try await daemon.program.errors.next(containing: "the one in force stays")

        await #expect(throws: BusError.self) { try await client.start() }
    }

    @Test("with a configuration that cannot be read nothing is started", arguments: ["directory", "pipe", "nothing"])
    @ServiceActor
    func unreadableFile(kind: String) async throws {
        let bus = try await PrivateBus()
        let file = bus.folder.appending(path: "whereabouts.conf")
        switch kind {
        case "directory": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
        default: break
        }

        let program = try RunningDaemon.start(on: bus, configurationFile: file)

        #expect(await program.ended() == .status(1))
        #expect(await program.errors.wholeText().contains(file.path))
    }
}
