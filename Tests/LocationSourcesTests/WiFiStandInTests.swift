import DBusTestSupport
import EventLoop
import Foundation
import LocationTestSupport
import Testing

@testable import LocationSources

/// The services as others have rebuilt them, which is no part of the project.
private enum WirelessStandIn {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/standins").standardized
    static let python = "/usr/bin/python3"

    static func program(_ kind: WirelessKind) -> String {
        let name = kind == .wpaSupplicant ? "wpa_supplicant" : "networkmanager"
        return folder.appending(path: "\(name)_standin.py").path
    }

    static var isPossible: Bool {
        let modules = ["dbus", "gi"].map { "/usr/lib/python3/dist-packages/\($0)" }
        return ([python] + modules + WirelessKind.allCases.map(program)).allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
    }
}

@Suite(
    .enabled(if: WirelessStandIn.isPossible, "there are no stand-ins for wpa_supplicant and NetworkManager"),
    .timeLimit(.minutes(1)))
struct WiFiStandInTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let bus: PrivateBus
        let lookup = ScriptedLookup()
        let source: WiFiSource
        let reports: Reports
        private var programs: [ChildProgram] = []

        init() async throws {
            bus = try await PrivateBus()
            source = WiFiSource(connection: try bus.connect(), lookup: lookup, clock: LoopClock.shared)
            reports = Reports(of: source)
            lookup.answer = { _ in .unknown }
            source.discover()
        }

        @discardableResult
        func start(_ kind: WirelessKind, _ options: String...) async throws -> ChildProgram {
            let child = try ChildProgram(
                WirelessStandIn.python,
                [
                    WirelessStandIn.program(kind), "--address", bus.addressText, "--scan-time", "0.01",
                    "--scan", WirelessStandIn.folder.appending(path: "example-scans.json").path,
                ] + options)
            programs.append(child)
            _ = try await child.output.next(containing: "READY")
            return child
        }

        /// The addresses of the first question.
        func asked() async throws -> [UInt64] {
            source.run(for: .exact)
            await until { !self.lookup.queries.isEmpty }
            return try #require(lookup.queries.first).accessPoints.map { $0.address & 0xFF }.sorted()
        }
    }

    @Test(
        "a scan is made, and exactly those access points are asked about that may be", arguments: WirelessKind.allCases)
    @ServiceActor
    func query(kind: WirelessKind) async throws {
        let bench = try await Bench()
        try await bench.start(kind)
        await until { bench.source.availableLevel == .street }

        #expect(try await bench.asked() == [1, 2, 3])
    }

    @Test("one that is killed is gone, and one that is started again is found", arguments: WirelessKind.allCases)
    @ServiceActor
    func killed(kind: WirelessKind) async throws {
        let bench = try await Bench()
        let first = try await bench.start(kind)
        await until { bench.source.availableLevel == .street }

        await first.stop()
        await until { bench.source.availableLevel == .none }
        try await bench.start(kind)
        await until { bench.source.availableLevel == .street }

        #expect(try await bench.asked() == [1, 2, 3])
    }

    @Test("NetworkManager with iwd behind it is of no use")
    @ServiceActor
    func iwd() async throws {
        let bench = try await Bench()
        try await bench.start(.networkManager, "--iwd-backend")
        await until { bench.source.availableLevel == .street }
        bench.source.run(for: .exact)
        await until { bench.source.availableLevel == .none }

        #expect(bench.lookup.queries.isEmpty)
    }
}
