import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@Suite(
    .timeLimit(.minutes(3)), .disabled(if: isSanitized, "the sanitizers keep what was freed"))
struct MemoryTests {
    init() { EventLoop.startThread() }

    @Test("a hundred thousand calls leave the daemon as large as it was")
    @ServiceActor
    func calls() async throws {
        let daemon = try await RunningDaemon()
        let client = try await GeoClueClient(on: daemon.bus)
        try await Self.call(client, times: 20_000)

        let before = try Self.residentSize(of: daemon.program)
        try await Self.call(client, times: 100_000)
        let after = try Self.residentSize(of: daemon.program)

        // 16 bytes a call would be 1.6 MB.
        #expect(after - before < 1 << 20)
    }

    @Test("a thousand clients that vanish leave nothing behind")
    @ServiceActor
    func clients() async throws {
        let daemon = try await RunningDaemon()
        // Stays, so that the receiver is never let go and what it says is never lost.
        let keeper = try await GeoClueClient(on: daemon.bus)
        try await keeper.start()
        await daemon.feed.connected()
        try await Self.comeAndGo(daemon, rounds: 2)

        let before = try Self.residentSize(of: daemon.program)
        try await Self.comeAndGo(daemon, rounds: 10)
        var growth = try Self.residentSize(of: daemon.program) - before
        // What is freed is given back a second after a hundred have left, so the last ones of a burst wait for others.
        while growth >= 1 << 20, !Task.isCancelled {
            try await Self.comeAndGo(daemon, rounds: 1)
            growth = try Self.residentSize(of: daemon.program) - before
        }

        // 200 bytes a client would be 1 MB.
        #expect(growth < 1 << 20)
    }

    @Test("most of what a program with a thousand clients took is given back once it has vanished")
    @ServiceActor
    func clientsOfOne() async throws {
        let daemon = try await RunningDaemon()
        let keeper = try await GeoClueClient(on: daemon.bus)
        try await keeper.start()
        await daemon.feed.connected()

        let before = try Self.residentSize(of: daemon.program)
        let program = try daemon.bus.connect()
        for _ in 1..<1000 { try await GeoClueClient(connection: program).start() }
        let last = try await GeoClueClient(connection: program)
        try await last.start()
        daemon.feed.send(latitude: 48, longitude: 11)
        _ = try await last.updates.next()
        let most = try Self.residentSize(of: daemon.program)
        program.close()

        // What is freed is given back a second later.
        var after = most
        while after - before >= (most - before) / 2, !Task.isCancelled {
            try await keeper.set("DistanceThreshold", .uint32(0))
            after = try Self.residentSize(of: daemon.program)
        }
        #expect(after - before < (most - before) / 2)
    }

    /// Calls of every kind, two hundred at once.
    private static func call(_ client: GeoClueClient, times: Int) async throws {
        let peer = client.connection
        try await onLoop {
            for _ in 0..<times / 1000 {
                let calls = (0..<200).map { number in
                    ServiceActor.task {
                        try await client.set("TimeThreshold", .uint32(UInt32(number)))
                        _ = try await peer.call(
                            GeoClueNames.busName, client.path, GeoClueClient.properties, "GetAll",
                            GeoClueNames.client.string, returning: [String: Variant].self)
                        try? await client.set("Active", .bool(true))
                        let path = try await peer.call(
                            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "CreateClient",
                            returning: ObjectPath.self)
                        try await peer.call(
                            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "DeleteClient", path)
                    }
                }
                for call in calls { try await call.value }
            }
        }
    }

    /// In each round five hundred peers make a client, start it, and leave the bus.
    @ServiceActor
    private static func comeAndGo(_ daemon: RunningDaemon, rounds: Int) async throws {
        for _ in 0..<rounds {
            for _ in 0..<50 {
                var clients: [GeoClueClient] = []
                for _ in 0..<10 { clients.append(try await GeoClueClient(on: daemon.bus)) }
                for client in clients { try await client.start() }
                daemon.feed.send(latitude: 48, longitude: 11)
                for client in clients { _ = try await client.updates.next() }
                for client in clients { client.connection.close() }
            }
        }
    }

    /// What is its own: how much of its program is in memory depends on what else the machine has to do.
    private static func residentSize(of program: ChildProgram) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(program.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        let kilobytes = try #require(Int(line.split(separator: " ")[1]))
        return kilobytes << 10
    }
}

/// Whether the tests, and so the daemon beside them, run under a sanitizer, as `make asan` and `make tsan` say.
private let isSanitized = ProcessInfo.processInfo.environment.keys.contains {
    $0 == "ASAN_OPTIONS" || $0 == "TSAN_OPTIONS"
}
