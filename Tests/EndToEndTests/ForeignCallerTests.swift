import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import LocationTestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ForeignCallerTests {
    init() { EventLoop.startThread() }

    static let denied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"

    @Test("a client and its locations answer their owner alone")
    @ServiceActor
    func foreignCalls() async throws {
        let daemon = try await RunningDaemon()
        let owner = try await GeoClueClient(on: daemon.bus)
        try await owner.start()
        await daemon.feed.connected()
        daemon.feed.send(latitude: 48.1173, longitude: 11.5167)
        let (_, location) = try await owner.updates.next().read(as: ObjectPath.self, ObjectPath.self)
        let stranger = try daemon.bus.connect()
        func ask(_ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ arguments: [Value])
            async throws
            -> Message
        {
            let message = Message.methodCall(to: GeoClueNames.busName, path, interface, member)
            for argument in arguments { try message.append(argument) }
            return try await stranger.call(message)
        }
        let client = GeoClueNames.client.string

        var refusals: [ErrorName?] = []
        for (path, interface, member, arguments) in [
            (owner.path, GeoClueNames.client, "Start", []), (owner.path, GeoClueNames.client, "Stop", []),
            (owner.path, GeoClueClient.properties, "Get", [.string(client), .string("Location")]),
            (
                owner.path, GeoClueClient.properties, "Set",
                [.string(client), .string("DesktopId"), .variant(.string("org.example.Other"))]
            ),
            (
                location, GeoClueClient.properties, "Get",
                [.string(GeoClueNames.location.string), .string("Latitude")]
            ),
        ] as [(ObjectPath, InterfaceName, MemberName, [Value])] {
            do {
                _ = try await ask(path, interface, member, arguments)
                refusals.append(nil)
            } catch let error as BusError {
                refusals.append(error.name)
            }
        }
        let properties = try await [
            ask(owner.path, GeoClueClient.properties, "GetAll", [.string(client)]),
            ask(location, GeoClueClient.properties, "GetAll", [.string(GeoClueNames.location.string)]),
        ].map { try $0.read(as: [String: Variant].self) }

        #expect(refusals == Array(repeating: Self.denied, count: 5))
        #expect(properties == [[:], [:]])
    }

    @Test("ten thousand clients of one peer meet the limit, and another peer notices nothing")
    @ServiceActor
    func clientLimit() async throws {
        let daemon = try await RunningDaemon()
        let greedy = try daemon.bus.connect()
        let other = try await GeoClueClient(on: daemon.bus)
        try await other.start()
        await daemon.feed.connected()

        let outcomes = try await onLoop {
            let calls = (0..<10_000).map { _ in
                ServiceActor.task {
                    await Self.createClient(greedy)
                }
            }
            var outcomes: [ErrorName?: Int] = [:]
            for call in calls { outcomes[await call.value, default: 0] += 1 }
            return outcomes
        }
        daemon.feed.send(latitude: 48.1173, longitude: 11.5167)
        let location = try await other.nextLocation()
        let later = try await GeoClueClient(on: daemon.bus)
        try await later.start()

        #expect(outcomes.keys.compactMap(\.self) == ["org.freedesktop.DBus.Error.LimitsExceeded"])
        #expect((1...1024).contains(outcomes[nil] ?? 0))
        #expect(location.number("Latitude") != nil)
    }

    @Test(
        "descriptors that strangers send leave the daemon some, however few it may have",
        .enabled(if: getuid() == 0, "the daemon's open files are hidden from other processes of its user"))
    @ServiceActor
    func descriptors() async throws {
        let daemon = try await RunningDaemon { _ in ["prlimit", "--nofile=64", "--"] }
        let stranger = try daemon.bus.connect()
        let descriptor = UnixFD(FileDescriptor(adopting: open("/dev/null", O_RDONLY | O_CLOEXEC)))
        let client = try await GeoClueClient(on: daemon.bus)

        daemon.program.send(signal: SIGSTOP)
        for _ in 0..<200 {
            let message = Message.methodCall(
                to: GeoClueNames.busName, client.path, "org.freedesktop.DBus.Peer", "Ping")
            message.expectsReply = false
            for _ in 0..<16 { try message.append(.unixFD(descriptor)) }
            stranger.send(message)
        }
        // Long enough for the bus to pass on as many as it will.
        for _ in 0..<50 { try await client.connection.settle() }
        daemon.program.send(signal: SIGCONT)
        try await stranger.settle()
        try await client.start()
        await daemon.feed.connected()
        daemon.feed.send(latitude: 48.1173, longitude: 11.5167)

        #expect(try await client.nextLocation().number("Latitude") != nil)
        // None of them is kept. What the bus passes on late is on its way through.
        let folder = "/proc/\(daemon.program.processID)/fd"
        await until { (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? .max < 32 }
    }

    @ServiceActor private static func createClient(_ connection: Connection) async -> ErrorName? {
        do throws(BusError) {
            _ = try await connection.call(
                GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "CreateClient",
                returning: ObjectPath.self)
            return nil
        } catch {
            return error.name
        }
    }

    @Test("an application that has stopped reading holds up nobody else")
    @ServiceActor
    func silentReader() async throws {
        let daemon = try await RunningDaemon()
        let silent = try ChildProgram(RunningDaemon.command, ["watch", "--bus", daemon.bus.addressText])
        let other = try await GeoClueClient(on: daemon.bus)
        try await other.start()
        await daemon.feed.connected()
        daemon.feed.send(latitude: 48, longitude: 11)
        _ = try await silent.output.next()
        _ = try await other.nextLocation()

        silent.send(signal: SIGSTOP)
        var seen = 0
        for step in 1...500 {
            daemon.feed.send(latitude: 48 + Double(step) / 1000, longitude: 11)
            if try await other.nextLocation().number("Latitude") != nil { seen += 1 }
        }

        #expect(seen == 500)
        silent.send(signal: SIGCONT)
        await silent.stop()
    }
}
