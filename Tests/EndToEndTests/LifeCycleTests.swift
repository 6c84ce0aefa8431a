import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import LocationTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LifeCycleTests {
    init() { EventLoop.startThread() }

    @Test("SIGTERM and SIGINT end the daemon with status 0", arguments: [SIGTERM, SIGINT])
    @ServiceActor
    func termination(signal: Int32) async throws {
        let daemon = try await RunningDaemon()

        daemon.program.send(signal: signal)

        #expect(await daemon.program.ended() == .status(0))
    }

    @Test("a call in the moment of leaving is answered, and whoever got a client then has it")
    @ServiceActor
    func lastMoment() async throws {
        let daemon = try await RunningDaemon(BusConfiguration(), ["--timeout", "1"])
        let connection = try daemon.bus.connect()
        func ask<T: DBusType>(_ member: MemberName, as type: T.Type) async throws -> T {
            try await connection.call(
                GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, member, returning: type)
        }

        daemon.bus.pause()
        let call = ServiceActor.task { try await ask("GetClient", as: ObjectPath.self) }
        _ = try await daemon.program.errors.next(containing: "nobody has asked")
        daemon.bus.resume()

        // Which of the two the bus takes first is its business.
        do {
            let path = try await call.value
            #expect(try await ask("GetClient", as: ObjectPath.self) == path)
        } catch let error as BusError {
            #expect(error.name == "org.freedesktop.DBus.Error.ServiceUnknown")
            #expect(await daemon.program.ended() == .status(0))
        }
    }

    @Test("in a file the log leaves its place to whoever writes there next")
    @ServiceActor
    func sharedFile() async throws {
        let file = TestFolder.unused("log")
        let script = "{ \"$0\" --nonsense; echo \"then $?\"; } >\"$1\" 2>&1"
        let shell = try ChildProgram("/bin/sh", ["-c", script, RunningDaemon.executable, file.path])
        await shell.ended()

        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        try FileManager.default.removeItem(at: file)

        #expect(lines.count == 2 && lines[0].contains("--nonsense") && lines[1] == "then 2")
    }

    @Test("a log that nobody reads and a bus that has stopped do not keep SIGTERM from ending the daemon")
    @ServiceActor
    func deafWorld() async throws {
        let log = Unread()
        let daemon = try await RunningDaemon(BusConfiguration(), ["--debug"]) { folder in
            log.open(in: folder)
            return ["sh", "-c", "exec \"$@\" 2>\"\(log.path)\"", "sh"]
        }
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        await daemon.feed.connected()
        log.fill()

        daemon.bus.pause()
        // More than a socket holds.
        for step in 1...2000 { daemon.feed.send(latitude: 48 + Double(step) / 10_000, longitude: 11) }
        await daemon.feed.read()
        daemon.program.send(signal: SIGUSR1)
        daemon.program.send(signal: SIGTERM)
        let exit = await daemon.program.ended()

        #expect(exit == .status(0))
        daemon.bus.resume()
    }

    /// A pipe that nobody reads.
    @ServiceActor
    private final class Unread {
        private(set) var path = ""
        private var descriptor: FileDescriptor?

        func open(in folder: URL) {
            path = folder.appending(path: "log").path
            mkfifo(path, 0o600)
            descriptor = FileDescriptor(adopting: Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
        }

        func fill() {
            let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
            while let descriptor, write(descriptor.raw, bytes, bytes.count) > 0 {}
        }
    }

    @Test("losing the bus ends the daemon with a non-zero status and one line that says so")
    @ServiceActor
    func busLoss() async throws {
        let daemon = try await RunningDaemon()
        let before = daemon.program.errors.text

        await daemon.bus.stop()
        let exit = await daemon.program.ended()
        let said = await daemon.program.errors.wholeText().dropFirst(before.count)

        #expect(exit == .status(1))
        #expect(said.split(separator: "\n").count == 1, "\(said)")
        #expect(said.contains("bus"))
    }

    @Test("where the name is taken the daemon says so and leaves with status 0")
    @ServiceActor
    func nameTaken() async throws {
        let daemon = try await RunningDaemon()

        let second = try RunningDaemon.start(on: daemon.bus, configurationFile: daemon.configurationFile)
        let exit = await second.ended()

        #expect(exit == .status(0))
        #expect(await second.errors.wholeText().contains("org.freedesktop.GeoClue2"))
    }

    @Test("without a bus the daemon ends with a non-zero status and says what it tried")
    @ServiceActor
    func noBus() async throws {
        let program = try ChildProgram(RunningDaemon.executable, ["--bus", "unix:path=/nonexistent/bus"])

        let exit = await program.ended()
        let said = await program.errors.wholeText()

        #expect(exit == .status(1))
        #expect(said.contains("/nonexistent/bus"))
        #expect(said.split(separator: "\n").filter { $0.hasPrefix("<3>") }.count == 1)
    }

    @Test("--check names the file and the line of each fault, and tells by its status")
    @ServiceActor
    func check() async throws {
        let folder = TestFolder.unused("check")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (good, bad) = (folder.appending(path: "good.conf"), folder.appending(path: "bad.conf"))
        try "[gpsd]\nenable=true\n".write(to: good, atomically: true, encoding: .utf8)
        try ("# A comment\n[gpsd]\nenable=perhaps\n" + String(repeating: "x\n", count: 50_000)).write(
            to: bad, atomically: true, encoding: .utf8)

        let fine = try ChildProgram(RunningDaemon.executable, ["--check", "--config", good.path])
        let faulty = try ChildProgram(RunningDaemon.executable, ["--check", "--config", bad.path])
        let exits = [await fine.ended(), await faulty.ended()]
        let said = await faulty.output.wholeText()

        #expect(exits[0] == .status(0))
        #expect(exits[1] != .status(0))
        #expect(said.hasPrefix("\(bad.path):4: "), "what cannot be read comes first")
        #expect(said.contains("\(bad.path):3: "))
        #expect(said.split(separator: "\n").count == 50_001, "all of them, however many")
    }

    @Test("SIGHUP reads the configuration again: what it forbids is refused from then on")
    @ServiceActor
    func reload() async throws {
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await client.start()
        try await client.stop()

        let forbidden = RunningDaemon.configuration(
            "[org.example.Maps]\nallowed=false\nsystem=false\nusers=\n", nmeaSocket: daemon.feed.path)
        try forbidden.write(to: daemon.configurationFile, atomically: true, encoding: .utf8)
        daemon.program.send(signal: SIGHUP)
        _ = try await daemon.program.errors.next(containing: "configuration")

        await #expect(throws: BusError.self) { try await client.start() }
    }
}
