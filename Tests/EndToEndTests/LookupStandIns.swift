import DBusTestSupport
import EventLoop
import Foundation

/// A lookup service and a wpa_supplicant, as others have rebuilt them, around the real daemon.
///
/// The programs are not part of the project; without them there is none.
@ServiceActor
final class LookupStandIns {
    enum Flavour: String, CaseIterable { case ichnaea, beacondb }

    /// A request as the lookup service has logged it.
    struct Request: Sendable {
        let line: String
        let body: [String: any Sendable]

        /// Address, signal and frequency of each access point, in the order of the request.
        var accessPoints: [String] {
            (body["wifiAccessPoints"] as? [[String: any Sendable]] ?? []).map {
                "\($0["macAddress"] ?? "") \($0["signalStrength"] ?? "") \($0["frequency"] ?? "")"
            }
        }
    }

    /// Beside the project, unless the environment names another place.
    private nonisolated static let folder =
        ProcessInfo.processInfo.environment["STANDINS"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../shared/standins").standardized
    /// The one that has the modules for D-Bus.
    private nonisolated static let python = "/usr/bin/python3"
    private nonisolated static let programs = ["ichnaea.py", "wpa_supplicant_standin.py"]
    private nonisolated static let monitor = "/usr/bin/dbus-monitor"

    nonisolated static var isPossible: Bool {
        let modules = ["dbus", "gi"].map { "/usr/lib/python3/dist-packages/\($0)" }
        return ([python, monitor] + modules + programs.map { folder.appending(path: $0).path }).allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    /// For how many seconds it is to be shown that nothing happens.
    nonisolated static let silence = ProcessInfo.processInfo.environment["SILENCE_SECONDS"].flatMap { Int($0) }

    /// The scans that come with the programs, as JSON.
    nonisolated static let scans: [String] = {
        let file = folder.appending(path: "example-scans.json")
        guard let data = try? Data(contentsOf: file),
            let scans = try? JSONSerialization.jsonObject(with: data) as? [[Any]]
        else { return [] }
        return scans.compactMap { scan in
            (try? JSONSerialization.data(withJSONObject: scan)).map { String(decoding: $0, as: UTF8.self) }
        }
    }()

    let daemon: RunningDaemon
    private let lookup: ChildProgram
    private let monitor: ChildProgram
    private let wireless: ChildProgram
    private let commands: FileHandle
    private let requestLog: URL
    private let callLog: URL

    /// - Parameters:
    ///   - scan: what every scan that the daemon asks for hears, as JSON.
    ///   - configuration: further groups.
    init(_ flavour: Flavour, scan: String, configuration: String = "") async throws {
        // The daemon makes the bus, and its folder with it; the lookup service has to be there first.
        let log = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
        requestLog = log.appendingPathExtension("requests")
        callLog = log.appendingPathExtension("calls")
        let database = Self.folder.appending(path: "example-db.json").path
        lookup = try ChildProgram(
            Self.python,
            [
                Self.folder.appending(path: Self.programs[0]).path, "--db", database, "--flavour", flavour.rawValue,
                "--log", requestLog.path,
            ])
        let address = try await lookup.output.next(containing: "READY").dropFirst("READY ".count)
        daemon = try await RunningDaemon(
            configuration: "[wifi]\nenable=true\nurl=\(address)/v1/geolocate\n\(configuration)")
        monitor = try ChildProgram(
            Self.monitor,
            [
                "--address", daemon.bus.addressText, "type='signal',member='ScanDone'",
                "type='method_call',interface='org.freedesktop.DBus.Properties',member='Get'",
            ])
        // It is heard itself as it becomes a monitor.
        _ = try await monitor.output.next(containing: "NameLost")

        let scans = daemon.bus.folder.appending(path: "scans.json")
        try "[\(scan)]".write(to: scans, atomically: true, encoding: .utf8)
        let pipe = daemon.bus.folder.appending(path: "commands").path
        mkfifo(pipe, 0o600)
        commands = FileHandle(
            fileDescriptor: open(pipe, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        wireless = try ChildProgram(
            "sh",
            [
                "-c", "exec \"$@\" <\"$0\"", pipe, Self.python, Self.folder.appending(path: Self.programs[1]).path,
                "--address", daemon.bus.addressText, "--scan", scans.path, "--scan-time", "0.01",
                "--log", callLog.path,
            ])
        _ = try await wireless.output.next(containing: "READY")
    }

    isolated deinit {
        for file in [requestLog, callLog] { try? FileManager.default.removeItem(at: file) }
    }

    /// Lets a scan end that somebody else has asked for, in which `scan` was heard.
    func hear(_ scan: String) async throws {
        try commands.write(contentsOf: Data("autoscan \(scan)\n".utf8))
        _ = try await wireless.output.next(containing: "OK autoscan")
    }

    /// Comes back once the daemon has asked for what the next scan has heard.
    func hasRead() async throws {
        _ = try await monitor.output.next(containing: "ScanDone")
        _ = try await monitor.output.next(containing: "\"BSSs\"")
    }

    var requests: [Request] {
        lines(of: requestLog).map { line in
            let entry = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: any Sendable]
            return Request(line: line, body: entry?["body"] as? [String: any Sendable] ?? [:])
        }
    }

    /// How many scans wpa_supplicant was asked for.
    var scanRequests: Int { lines(of: callLog).count { $0.contains("\"Scan\"") } }

    private func lines(of file: URL) -> [String] {
        (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
    }
}
