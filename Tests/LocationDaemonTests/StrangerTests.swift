import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import Testing

@testable import LocationDaemon

/// What programs learn of clients that are not theirs.
@Suite(.timeLimit(.minutes(1))) struct StrangerTests {
    init() { EventLoop.startThread() }

    @Test("clients of one connection are apart, and strangers learn nothing and change nothing")
    @ServiceActor
    func strangers() async throws {
        let lab = try await Lab()
        let connection = try lab.connect()
        let p = try await App(connection)
        let q = try await App(connection)
        func newest() async throws -> ObjectPath {
            try await connection.call(
                GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "GetClient",
                returning: ObjectPath.self)
        }
        #expect(try await newest() == q.path)
        #expect(try await newest() == q.path)
        for (app, level) in [(p, AccuracyLevel.city), (q, .exact)] {
            try await app.set("DesktopId", .string("org.example.Maps"))
            try await app.set("RequestedAccuracyLevel", .uint32(level.rawValue))
            try await app.start()
        }
        let stranger = try lab.connect(2000)
        let overheard = Listener(stranger, MatchRule(sender: nil, path: q.path))
        func refusal(_ interface: InterfaceName, _ member: MemberName, _ values: [Value]) async -> String? {
            let message = Message.methodCall(to: GeoClueNames.busName, q.path, interface, member)
            for value in values { try? message.append(value) }
            do {
                _ = try await stranger.call(message)
                return nil
            } catch { return error.name.string }
        }
        let denied = "org.freedesktop.DBus.Error.AccessDenied"
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        let client = Value.string(GeoClueNames.client.string)

        await lab.receiver.demanded()
        lab.receiver.send(48.1, 11.5)

        #expect(try await q.nextPlace() == [48.1, 11.5])
        #expect(try await p.nextPlace() != [48.1, 11.5])
        #expect(await refusal(GeoClueNames.client, "Start", []) == denied)
        #expect(await refusal(GeoClueNames.client, "Stop", []) == denied)
        #expect(await refusal(properties, "Get", [client, .string("Location")]) == denied)
        #expect(
            await refusal(properties, "Set", [client, .string("DesktopId"), .variant(.string("x"))]) == denied)
        let deletion = Message.methodCall(
            to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "DeleteClient")
        try deletion.append(q.path)
        _ = try await stranger.call(deletion)
        #expect(try await q.isActive)
        for _ in 0..<2 {
            let own = Message.methodCall(
                to: GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "DeleteClient")
            try own.append(q.path)
            _ = try await connection.call(own)
        }
        #expect(try await p.isActive)
        try await lab.settle(stranger)
        #expect(overheard.count == 0)
    }

    @Test("another user cannot tell a client that there is from one that has gone, nor where it has been")
    @ServiceActor
    func covered() async throws {
        let lab = try await Lab()
        let (staying, leaving) = (try await lab.app(of: 1000), try await lab.app(of: 1000))
        for app in [staying, leaving] { try await app.start() }
        await lab.receiver.demanded()
        lab.receiver.send(48.1, 11.5)
        let locations = [try await staying.nextLocation(), try await leaving.nextLocation()]
        leaving.connection.close()
        try await lab.settle(staying.connection)
        let other = try lab.connect(2000)
        let same = try lab.connect(1000)

        for (path, interface) in [(staying.path, GeoClueNames.client), (locations[0], GeoClueNames.location)] {
            let gone = path == staying.path ? leaving.path : locations[1]
            for call in Self.calls(interface) {
                let (there, absent) = (await call.answer(to: other, at: path), await call.answer(to: other, at: gone))
                #expect(there == absent, "\(call)")
            }
            let reading = StrangersCall(
                interface: "org.freedesktop.DBus.Properties", member: "Get",
                [.string(interface.string), .string(path == staying.path ? "Active" : "Latitude")])
            #expect(await reading.answer(to: other, at: gone).hasPrefix("org.freedesktop.DBus.Error.AccessDenied"))
            // The user's own programs are told.
            #expect(await reading.answer(to: same, at: path).hasPrefix("org.freedesktop.DBus.Error.AccessDenied"))
            #expect(await reading.answer(to: same, at: gone).hasPrefix("org.freedesktop.DBus.Error.UnknownMethod"))
        }
        // What was never given is no secret: a new client shows the number.
        let ping = StrangersCall(interface: "org.freedesktop.DBus.Peer", member: "Ping")
        for path: ObjectPath in ["/org/freedesktop/GeoClue2/Client/3", "/org/freedesktop/GeoClue2/Client/0"] {
            #expect(await ping.answer(to: other, at: path).hasPrefix("org.freedesktop.DBus.Error.UnknownMethod"))
        }
    }

    /// All that somebody may try at a path.
    private static func calls(_ interface: InterfaceName) -> [StrangersCall] {
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        let (own, none) = (Value.string(interface.string), Value.string("org.example.None"))
        return [
            StrangersCall(interface: "org.freedesktop.DBus.Introspectable", member: "Introspect"),
            StrangersCall(interface: "org.freedesktop.DBus.Peer", member: "Ping"),
            StrangersCall(interface: "org.freedesktop.DBus.Peer", member: "GetMachineId"),
            StrangersCall(interface: interface, member: "Start"), StrangersCall(interface: interface, member: "Stop"),
            StrangersCall(interface: interface, member: "Start", [.string("x")]),
            StrangersCall(interface: interface, member: "None"),
            StrangersCall(interface: "org.example.None", member: "None"),
            StrangersCall(interface: properties, member: "GetAll", [own]),
            StrangersCall(interface: properties, member: "GetAll", [none]),
            StrangersCall(interface: properties, member: "GetAll"),
        ]
            + ["Active", "Latitude", "DesktopId", "None"].flatMap { name in
                [
                    StrangersCall(interface: properties, member: "Get", [own, .string(name)]),
                    StrangersCall(interface: properties, member: "Get", [none, .string(name)]),
                    StrangersCall(
                        interface: properties, member: "Set", [own, .string(name), .variant(.string("x"))]),
                    StrangersCall(interface: properties, member: "Set", [own, .string(name), .variant(.byte(1))]),
                ]
            }
    }

    private struct StrangersCall {
        let interface: InterfaceName
        let member: MemberName
        let arguments: [Value]

        init(interface: InterfaceName, member: MemberName, _ arguments: [Value] = []) {
            (self.interface, self.member, self.arguments) = (interface, member, arguments)
        }

        /// The reply or the error, without the path.
        @ServiceActor
        func answer(to caller: Connection, at path: ObjectPath) async -> String {
            let message = Message.methodCall(to: GeoClueNames.busName, path, interface, member)
            for argument in arguments { try? message.append(argument) }
            let answer: String
            do {
                answer = "\(try await caller.call(message).readValues())"
            } catch { answer = (error as? BusError).map { "\($0.name): \($0.message)" } ?? "\(error)" }
            return answer.split(separator: path.string, omittingEmptySubsequences: false).joined(separator: "PATH")
        }
    }
}
