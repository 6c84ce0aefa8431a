import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Testing

/// The real daemon on a bus of its own, with a receiver that the test feeds.
@ServiceActor
struct RunningDaemon {
    let bus: PrivateBus
    let feed: NMEAFeed
    let program: ChildProgram
    let configurationFile: URL

    /// Starts the daemon and waits until it owns its name.
    ///
    /// - Parameters:
    ///   - bus: one that has others on it already; a new one unless said otherwise.
    ///   - configuration: what follows the groups of the sources.
    ///   - arguments: further options.
    ///   - wrapper: what the daemon is started by.
    init(
        _ busConfiguration: BusConfiguration = BusConfiguration(), on bus: PrivateBus? = nil,
        configuration: String = "",
        _ arguments: [String] = [], wrapper: (URL) -> [String] = { _ in [] }
    ) async throws {
        self.bus = if let bus { bus } else { try await PrivateBus(busConfiguration) }
        let bus = self.bus
        feed = try NMEAFeed(in: bus.folder)
        configurationFile = bus.folder.appending(path: "whereabouts.conf")
        try Self.configuration(configuration, nmeaSocket: feed.path).write(
            to: configurationFile, atomically: true, encoding: .utf8)
        let watcher = try bus.connect()
        let owners = Events<BusName>()
        let subscription = watcher.watchOwner(of: GeoClueNames.busName) { if let owner = $0 { owners.add(owner) } }
        try await watcher.settle()
        program = try Self.start(on: bus, configurationFile: configurationFile, arguments, wrapper: wrapper(bus.folder))
        let program = program
        let early = ServiceActor.start {
            let exit = await program.ended()
            owners.fail("the daemon has ended with \(exit): \(program.errors.text)")
        }
        _ = try await owners.next()
        early.cancel()
        subscription.cancel()
    }

    /// Starts the daemon without waiting for its name.
    static func start(
        on bus: PrivateBus, configurationFile: URL, _ arguments: [String] = [], wrapper: [String] = []
    ) throws -> ChildProgram {
        let command =
            wrapper + [
                executable, "--bus", bus.addressText, "--config", configurationFile.path, "--timeout", "0",
                "--state-directory", bus.folder.path,
            ] + arguments
        return try ChildProgram(command[0], Array(command.dropFirst()))
    }

    /// Sources off that look at the machine; the receiver is what there is.
    static func configuration(_ further: String, nmeaSocket: String) -> String {
        """
        [network-nmea]
        enable=true
        nmea-socket=\(nmeaSocket)
        [wifi]
        enable=false
        [modem-gps]
        enable=false
        [static-source]
        enable=false
        [time-zone]
        enable=false
        [gpsd]
        enable=false
        \(further)
        """
    }

    /// `whereaboutsd`, beside the tests' own program, unless the environment names another one.
    static var executable: String {
        ProcessInfo.processInfo.environment["WHEREABOUTSD"] ?? folder.appending(path: "whereaboutsd").path
    }

    /// The `whereabouts` command.
    static var command: String {
        let names = ["whereabouts", "WhereaboutsCommand"].map { folder.appending(path: $0).path }
        return names.first { FileManager.default.isExecutableFile(atPath: $0) } ?? names[0]
    }

    private static var folder: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

}
