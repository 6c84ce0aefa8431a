import DBus
import DBusTestSupport
import EventLoop
import Foundation
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ModemDirectoryTests {
    init() { EventLoop.startThread() }

    @Test("modems that are there, come and go are known, and those that cannot tell where they are do not count")
    @ServiceActor
    func follows() async throws {
        let bench = try await ModemBench()
        let first = bench.manager.plug()
        bench.directory.start()
        await until { bench.directory.modems.map(\.path) == [first.path] }

        let second = bench.manager.plug(capabilities: 1)
        try bench.manager.connection.emit(
            FakeModemManager.root, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", to: nil,
            "/org/freedesktop/ModemManager1/SIM/0" as ObjectPath,
            ["org.freedesktop.ModemManager1.Sim": [String: Variant]()])
        await until { bench.directory.modems.map(\.path) == [first.path, second.path] }
        bench.manager.unplug(first)
        await until { bench.directory.modems.map(\.path) == [second.path] }

        #expect(bench.directory.modems.first?.capabilities == .cell3GPP)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a ModemManager that comes late, dies and comes again is followed, and its modems go with it")
    @ServiceActor
    func restart() async throws {
        let bench = try await ModemBench(isRunning: false)
        bench.directory.start()
        try await bench.settle()
        #expect(bench.directory.modems.isEmpty && bench.clock.pendingTimers == 0)

        bench.manager.plug()
        try await bench.manager.start()
        await until { bench.directory.modems.count == 1 }
        let known = try #require(bench.directory.modems.first)
        bench.manager.die()
        await until { bench.directory.modems.isEmpty }
        let manager = FakeModemManager(try bench.bus.connect())
        manager.plug()
        try await manager.start()
        await until { bench.directory.modems.count == 1 }

        #expect(bench.directory.modems.first !== known)
    }

    @Test("where there is no ModemManager none is started")
    @ServiceActor
    func noActivation() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "services-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let started = folder.appending(path: "started")
        let service = "[D-BUS Service]\nName=org.freedesktop.ModemManager1\nExec=/usr/bin/touch \(started.path)\n"
        let file = folder.appending(path: "org.freedesktop.ModemManager1.service")
        try service.write(to: file, atomically: true, encoding: .utf8)
        let include = folder.appending(path: "services.conf")
        try "<busconfig><servicedir>\(folder.path)</servicedir></busconfig>".write(
            to: include, atomically: true, encoding: .utf8)
        let bus = try await PrivateBus(BusConfiguration(policyFiles: [include.path]))
        let connection = try bus.connect()
        let directory = ModemDirectory(connection: connection, clock: ManualClock())

        directory.start()
        for _ in 0..<6 { try await connection.settle() }
        let wasStarted = FileManager.default.fileExists(atPath: started.path)
        // As whoever asked for it would have done.
        connection.send(.methodCall(to: "org.freedesktop.ModemManager1", .root, nil, "Ping"))

        #expect(!wasStarted)
        await until { FileManager.default.fileExists(atPath: started.path) }
        withExtendedLifetime(directory) {}
    }

    @Test("one that hangs or refuses is asked again after growing waits, and at once when somebody needs to know")
    @ServiceActor
    func hangs() async throws {
        let bench = try await ModemBench()
        bench.manager.plug()
        bench.manager.behaviour.hang()
        bench.directory.start()
        await until { bench.manager.questions == 1 }

        await bench.clock.advance(by: .seconds(10))
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        bench.manager.behaviour.release()
        bench.manager.behaviour.refusal = .accessDenied("no")
        await bench.clock.advance(by: .seconds(5))
        // The call has its own time of ten seconds.
        await until { bench.manager.questions == 2 }
        try await bench.settle()
        #expect(bench.clock.hasTimer(in: .seconds(10)) && bench.clock.pendingTimers == 1)
        bench.manager.behaviour.refusal = nil
        #expect(bench.directory.modems.isEmpty && bench.manager.questions == 2)
        bench.directory.hurry()
        await until { bench.directory.modems.count == 1 }

        #expect(bench.manager.questions == 3)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a modem that comes while the question hangs is known all the same")
    @ServiceActor
    func cameMeanwhile() async throws {
        let bench = try await ModemBench()
        bench.manager.behaviour.hang()
        bench.directory.start()
        await until { bench.manager.questions == 1 }

        bench.manager.plug()
        await until { bench.directory.modems.count == 1 }
        bench.manager.behaviour.release()
        try await bench.connection.settle()

        #expect(bench.directory.modems.count == 1)
    }

    @Test("no more than eight are kept, whatever comes, and what is no answer is none")
    @ServiceActor
    func flood() async throws {
        let bench = try await ModemBench()
        bench.directory.start()
        await until { bench.manager.questions == 1 }

        for _ in 0..<500 { bench.manager.plug() }
        try bench.manager.connection.emit(
            FakeModemManager.root, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", to: nil, "nonsense")
        try bench.manager.connection.emit(
            FakeModemManager.root, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", to: nil, "nonsense")
        try await bench.manager.connection.settle()
        try await bench.connection.settle()

        #expect(bench.directory.modems.count == ModemDirectory.mostModems)
    }

    @Test(
        "a modem that comes and goes without end is used some times a minute, and for good once it stays",
        arguments: [true, false])
    @ServiceActor
    func endless(isRestarting: Bool) async throws {
        let bench = try await ModemBench(isRunning: !isRestarting)
        let source = ModemGNSSSource(directory: bench.directory, clock: bench.clock)
        source.discover()
        source.run(for: .exact)
        try await bench.settle()

        var modems: [FakeModem] = []
        var manager = bench.manager
        for number in 0...ModemDirectory.mostArrivals {
            if isRestarting {
                if number > 0 { manager.die() }
                manager = FakeModemManager(try bench.bus.connect())
                try await manager.start()
            } else if let last = modems.last {
                manager.unplug(last)
            }
            let modem = manager.plug()
            modems.append(modem)
            guard number < ModemDirectory.mostArrivals else { break }
            await until { modem.enabled == 4 }
        }
        try await bench.settle()
        try await manager.connection.settle()
        try await bench.connection.settle()
        #expect(bench.directory.modems.isEmpty && modems.last?.setups.isEmpty == true)
        await bench.clock.advance(by: ModemLocation.rest)
        await until { modems.last?.enabled == 4 }

        #expect(modems.allSatisfy { $0.setups.count == 1 })
    }

    @Test("signals that another program sends are not taken for ModemManager's")
    @ServiceActor
    func stranger() async throws {
        let bench = try await ModemBench()
        bench.directory.start()
        await until { bench.manager.questions == 1 }

        FakeModemManager(try bench.bus.connect()).plug()
        bench.manager.plug()
        await until { !bench.directory.modems.isEmpty }
        try await bench.connection.settle()

        #expect(bench.directory.modems.count == 1)
    }
}

/// A bus with a ModemManager, and what follows it.
@ServiceActor
final class ModemBench {
    let clock = ManualClock()
    let bus: PrivateBus
    let manager: FakeModemManager
    let connection: Connection
    let directory: ModemDirectory

    init(isRunning: Bool = true) async throws {
        bus = try await PrivateBus()
        manager = FakeModemManager(try bus.connect())
        if isRunning { try await manager.start() }
        connection = try bus.connect(clock: clock)
        directory = ModemDirectory(connection: connection, clock: clock)
    }

    /// Plugs in a modem, and waits until it is known.
    func modem(
        capabilities: UInt32 = 7, enabled: UInt32 = 0, signals: Bool = false
    ) async -> (FakeModem, ModemLocation) {
        let modem = manager.plug(capabilities: capabilities, enabled: enabled, signals: signals)
        directory.start()
        await until { self.directory.modems.contains { $0.path == modem.path } }
        return (modem, directory.modems.first { $0.path == modem.path }!)
    }

    /// Comes back once all that has been sent either way has arrived, and been answered, and so once more.
    func settle() async throws {
        for _ in 0..<6 {
            try await connection.settle()
            try await manager.connection.settle()
        }
    }
}
