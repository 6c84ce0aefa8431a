import DBus
import EventLoop
import Foundation
import LocationTestSupport

/// A message bus of a test's own, in a temporary folder. Ends with ``stop()``, with the last reference, or with the
/// test run.
@ServiceActor
package final class PrivateBus {
    /// Where to connect to it.
    package let address: BusAddress
    /// The same, for a program's command line.
    package let addressText: String
    /// A folder for whatever else the test needs, removed with the bus. Every user may look into it.
    package nonisolated let folder: URL

    private let program: ChildProgram

    /// Starts `dbus-daemon` and waits until it listens.
    ///
    /// - Parameter configuration: what the bus allows.
    package init(_ configuration: BusConfiguration = BusConfiguration()) async throws {
        EventLoop.startThread()
        folder = TestFolder.unused("bus")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let file = folder.appending(path: "bus.conf")
        try configuration.text(socket: folder.appending(path: "socket").path).write(
            to: file, atomically: true, encoding: .utf8)
        program = try ChildProgram(
            "dbus-daemon", ["--nofork", "--nopidfile", "--nosyslog", "--config-file=\(file.path)", "--print-address=1"])
        do {
            addressText = try await program.output.next(containing: "unix:")
        } catch {
            throw StartFailure(errors: await program.errors.wholeText())
        }
        address = .address(addressText)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A new connection to this bus.
    package func connect(clock: any Clock = LoopClock.shared) throws -> Connection {
        try Connection(address, clock: clock)
    }

    /// Stops the bus from doing anything until ``resume()``.
    package func pause() { program.send(signal: SIGSTOP) }

    package func resume() { program.send(signal: SIGCONT) }

    /// Ends the bus; every connection to it is lost.
    package func stop() async {
        await program.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// `dbus-daemon` did not take its configuration.
    package struct StartFailure: Error { package let errors: String }
}
