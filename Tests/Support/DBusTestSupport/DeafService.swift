import DBus
import EventLoop

/// A program that owns a name and never answers a call.
@ServiceActor
package final class DeafService {
    private let program: ChildProgram

    private static let script = """
        import sys, time, dbus.bus
        connection = dbus.bus.BusConnection(sys.argv[1])
        connection.request_name(sys.argv[2])
        print("READY", flush=True)
        time.sleep(600)
        """

    /// Comes back once the name is owned.
    package init(_ name: BusName, on bus: PrivateBus) async throws {
        program = try ChildProgram("/usr/bin/python3", ["-c", Self.script, bus.addressText, name.string])
        _ = try await program.output.next(containing: "READY")
    }

    package func stop() async { await program.stop() }
}
