import DBus
import EventLoop
import GeoClueAPI
import Geolocation
import Glibc

/// `whereabouts watch`: shows each position as it comes; a person gets a picture of the way, a pipe gets lines.
@ServiceActor
final class Watch {
    private let address: BusAddress
    private var connection: Connection?
    private var client: ObjectPath?
    private var updates: Subscription?
    private var owner: Subscription?
    private var signals: SignalSource?
    private var drawing = TrackDrawing()
    private var isShowing = false
    private var isCursorHidden = false

    nonisolated init(_ address: BusAddress) { self.address = address }

    func run() async {
        do {
            let connection = try Connection(address)
            self.connection = connection
            connection.onDisconnect = { [self] in fail("the bus has gone") }
            if Terminal.isInteractive {
                signals = SignalSource([SIGINT, SIGTERM]) { [self] _ in finish(0) }
                Terminal.show("\u{1B}[?25l")
                isCursorHidden = true
            }
            owner = connection.watchOwner(of: GeoClueNames.busName) { [self] owner in
                if owner == nil { fail("the location service has gone") }
            }
            try await follow(over: connection)
        } catch {
            fail("\(error.message) (\(error.name))")
        }
    }

    private func follow(over connection: Connection) async throws(BusError) {
        let client = try await connection.call(
            GeoClueNames.busName, GeoClueNames.managerPath, GeoClueNames.manager, "GetClient",
            returning: ObjectPath.self)
        self.client = client
        // Listened to before Start, since the first update may come with its reply.
        updates = connection.subscribe(
            to: MatchRule(path: client, interface: GeoClueNames.client, member: "LocationUpdated")
        ) { [self] signal in
            guard let (_, location) = try? signal.read(as: ObjectPath.self, ObjectPath.self) else { return }
            isShowing = true
            ServiceActor.start { [self] in await show(location) }
        }
        try await set("DesktopId", .string("whereabouts"))
        try await set("RequestedAccuracyLevel", .uint32(AccuracyLevel.exact.rawValue))
        try await call(client, GeoClueNames.client, "Start")
        if !isShowing { announceWait() }
    }

    private func announceWait() {
        let text = "Waiting for the first position"
        guard Terminal.isInteractive else { return Terminal.complain("\(text)\n") }
        Terminal.show("\u{1B}[H\u{1B}[2J\(text) …\n")
    }

    private func set(_ property: String, _ value: Value) async throws(BusError) {
        guard let connection, let client else { return }
        _ = try await connection.call(
            GeoClueNames.busName, client, .properties, "Set", GeoClueNames.client.string,
            property,
            Variant(value))
    }

    private func call(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) async throws(BusError) {
        _ = try await connection?.call(.methodCall(to: GeoClueNames.busName, path, interface, member))
    }

    private func show(_ path: ObjectPath) async {
        guard let connection,
            let properties = try? await connection.call(
                GeoClueNames.busName, path, .properties, "GetAll", GeoClueNames.location.string,
                returning: [String: Variant].self),
            let location = ReceivedLocation(properties)
        else { return }
        guard Terminal.isInteractive else { return Terminal.show(location.line + "\n") }
        drawing.append(location.coordinate)
        let (columns, rows) = Terminal.size
        let picture = drawing.lines(columns: columns, rows: max(rows - 2, 1)).joined(separator: "\n")
        Terminal.show("\u{1B}[H\u{1B}[2J\(picture)\n\u{1B}[1m\(location.line)\u{1B}[0m")
    }

    private func fail(_ reason: String) {
        Terminal.complain("whereabouts: \(reason)\n")
        finish(1)
    }

    private func finish(_ status: Int32) {
        // Whoever started it may stop it as well, when Ctrl-C already has.
        if isCursorHidden { Terminal.show("\u{1B}[?25h\n") }
        isCursorHidden = false
        EventLoop.shared.stop(status)
    }
}
