import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@testable import LocationDaemon

/// The real daemon, killed again and again in a stream of decisions.
@Suite(.timeLimit(.minutes(30))) struct SoakTests {
    init() { EventLoop.startThread() }

    /// How often it is killed: `make soak` has it a thousand times.
    private static let kills = ProcessInfo.processInfo.environment["SOAK_KILLS"].flatMap { Int($0) } ?? 25

    /// What may be stored about each application: what was acknowledged last, and what was sent since.
    @ServiceActor
    private final class Ledger {
        /// A decision, told from all others by when it ends; `nil` for none.
        typealias Stamp = Int64?

        private var certain: [String: Stamp] = [:]
        private var underWay: [String: Stamp] = [:]
        private var lastStamp: Int64 = 0
        private(set) var acknowledged = 0

        /// Any application that nothing is under way about.
        func begin(_ keys: [String], isRemoval: Bool) -> (key: String, stamp: Stamp)? {
            guard let key = keys.filter({ underWay.index(forKey: $0) == nil }).randomElement() else { return nil }
            lastStamp += 1
            let stamp = isRemoval ? nil : 4_000_000_000_000_000 + lastStamp
            underWay[key] = .some(stamp)
            return (key, stamp)
        }

        func acknowledge(_ key: String) {
            guard let stamp = underWay.removeValue(forKey: key) else { return }
            certain[key] = .some(stamp)
            acknowledged += 1
        }

        /// Compares with what is there, which is certain from then on.
        func settle(_ found: [String: Int64], _ keys: [String]) {
            for key in keys {
                let before = certain[key] ?? nil
                let stamp = found[key]
                if let sent = underWay[key] {
                    #expect(stamp == before || stamp == sent, "\(key)")
                } else {
                    #expect(stamp == before, "\(key)")
                }
                certain[key] = .some(stamp)
            }
            #expect(Set(found.keys).isSubset(of: keys))
            underWay = [:]
        }
    }

    private static var executable: String {
        get throws {
            if let named = ProcessInfo.processInfo.environment["WHEREABOUTSD"] { return named }
            // Beside the bundle of the tests, wherever that was built.
            let bundle = try #require(
                CommandLine.arguments.first.map { URL(filePath: $0) }.flatMap { program in
                    [
                        program.deletingLastPathComponent(), Bundle.main.bundleURL,
                        Bundle.main.bundleURL.deletingLastPathComponent(),
                    ]
                    .first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "whereaboutsd").path) }
                })
            return bundle.appending(path: "whereaboutsd").path
        }
    }

    @Test("whatever was acknowledged is there after a kill, nothing is there that was not decided, and the store opens")
    @ServiceActor
    func soak() async throws {
        let bus = try await PrivateBus()
        let state = bus.folder.appending(path: "state").path
        let configuration = bus.folder.appending(path: "empty.conf")
        try Data("[static-source]\nenable=false\n".utf8).write(to: configuration)
        let ledger = Ledger()
        let keys = (0..<40).map { "flatpak:org.example.app\($0)" }
        var kills = 0

        while kills <= Self.kills {
            let daemon = try await start(on: bus, state: state, configuration: configuration.path)
            let administrator = Administrator(try bus.connect())
            let records = try await administrator.list()
            var found: [String: Int64] = [:]
            for record in records {
                guard case .string(let key)? = record["app"], case .uint64(let stamp)? = record["expires"] else {
                    Issue.record("\(record)")
                    continue
                }
                found[key] = Int64(stamp)
            }
            ledger.settle(found, keys)
            if kills < Self.kills {
                await stream(of: administrator, until: Int.random(in: 0...60), keys, ledger) {
                    daemon.send(signal: SIGKILL)
                }
            }
            await daemon.stop()
            #expect(!daemon.errors.text.contains("<3>"), "\(daemon.errors.text)")
            #expect(!daemon.errors.text.contains("<4>"), "\(daemon.errors.text)")
            administrator.connection.close()
            kills += 1
        }

        #expect(ledger.acknowledged >= Self.kills)
    }

    @ServiceActor
    private func start(on bus: PrivateBus, state: String, configuration: String) async throws -> ChildProgram {
        let watcher = try bus.connect()
        defer { watcher.close() }
        let owned = Gate()
        let watch = watcher.watchOwner(of: WhereaboutsNames.controlBusName) { if $0 != nil { owned.open() } }
        try await watcher.settle()
        let program = try ChildProgram(
            try Self.executable,
            [
                "--bus", bus.addressText, "--config", configuration, "--timeout", "0", "--state-directory", state,
            ])
        await owned.opened()
        watch.cancel()
        return program
    }

    /// Eight at a time decide without a pause, until `count` decisions are acknowledged and the daemon is killed.
    @ServiceActor
    private func stream(
        of administrator: Administrator, until count: Int, _ keys: [String], _ ledger: Ledger,
        kill: @escaping @ServiceActor () -> Void
    ) async {
        let target = ledger.acknowledged + count
        var end: LoopTimer?
        let workers = (0..<8).map { _ in
            Task.immediate { @ServiceActor in
                while let (key, stamp) = ledger.begin(keys, isRemoval: Int.random(in: 0..<4) == 0) {
                    if ledger.acknowledged >= target, end == nil {
                        // A few transactions long, so that it may come at any point of one.
                        end = LoopClock.shared.after(.microseconds(Int.random(in: 0...10_000)), kill)
                    }
                    do {
                        if let stamp {
                            let decision = ["allow", "deny", "ask"].randomElement() ?? "deny"
                            try await administrator.set(
                                key, ["decision": .string(decision), "expires": .int64(stamp)])
                        } else {
                            try await administrator.remove(key)
                        }
                    } catch { return }
                    ledger.acknowledge(key)
                }
            }
        }
        for worker in workers { await worker.value }
    }

    /// Something that happens once.
    @ServiceActor
    private final class Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func opened() async {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }
    }
}
