import EventLoop
import Geolocation
import Positioning

/// The receivers of a gpsd, over its JSON socket.
///
/// Watches only while somebody wants positions: that is what makes gpsd open a device, and close it a minute after
/// the last watcher has left. Apart from that it asks which devices there are, once at the start and after a loss; while
/// none is known it keeps looking as long as it is wanted, and for some minutes otherwise.
@ServiceActor
package final class GPSDSource: LocationSource {
    package nonisolated let name = "gpsd"
    package nonisolated let kind = Fix.Kind.gnss
    /// Starting a receiver costs more than letting it run on.
    package let stopGrace = Duration.seconds(15)
    package let looksOnlyWhileRunning = true
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// gpsd's registered port.
    package nonisolated static let defaultPort: UInt16 = 2947

    /// How long gpsd may take for its first line.
    private static let greetingTimeout = Duration.seconds(5)

    /// After how many vain attempts in a row gpsd counts as gone, and looking for it ends if nobody wants it.
    private static let attemptsBeforeGone = 4
    private static let attemptsUnwanted = 8

    private let address: StreamAddress
    private let clock: any Clock

    private var receivers: GPSDReceivers
    private var isWanted = false
    private var reconnect = Reconnect.gpsd
    private var link: Link?
    private var retry: Timer?
    private var alarm: Timer?
    private var alarmDeadline: Duration?
    private var hasLoggedTrouble = false
    private var lastRefusal: String?

    /// One connection and what belongs to it.
    private struct Link {
        let connection: StreamConnection
        let since: Duration
        var isConnected = false
        var isWatching = false
        var lines = LineReader(limit: GPSDMessage.longestLine)
        var greeting: Timer?
    }

    /// - Parameter address: a Unix socket, or TCP; `127.0.0.1:2947` where the distribution has not changed it.
    package init(
        address: StreamAddress = .tcp(host: "127.0.0.1", port: GPSDSource.defaultPort), clock: any Clock
    ) {
        self.address = address
        self.clock = clock
        receivers = GPSDReceivers(name: name)
    }

    package var availableLevel: AccuracyLevel { receivers.devices.isEmpty ? .none : .exact }

    package func discover() {
        if link == nil && retry == nil { connect() }
    }

    package func run(for demand: Demand?) {
        guard (demand != nil) != isWanted else { return }
        isWanted = demand != nil
        if isWanted {
            watch()
        } else {
            stop()
        }
    }

    // MARK: Connection

    private func watch() {
        if link?.isConnected == true {
            request()
        } else {
            // Somebody needs it now, whatever came of it before or is about to.
            disconnect()
            reconnect = .gpsd
            connect()
        }
    }

    private func stop() {
        let wasLooking = link?.isWatching != true
        disconnect()
        receivers.stopped()
        setAlarm()
        if wasLooking { connect() } else { retry = nil }
    }

    private func connect() {
        retry = nil
        let connection = StreamConnection(to: address, clock: clock) { [weak self] in self?.handle($0) }
        link = Link(connection: connection, since: clock.now)
    }

    private func disconnect() {
        link?.connection.close()
        link = nil
        retry = nil
    }

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .connected:
            link?.isConnected = true
            link?.greeting = clock.after(Self.greetingTimeout) { [weak self] in self?.ended(.timedOut) }
            request()
        case .received(let bytes):
            received(bytes)
        case .ended(let end):
            ended(end)
        }
    }

    private func request() {
        guard let connection = link?.connection, link?.isWatching == false else { return }
        if isWanted {
            link?.isWatching = true
            connection.send("?WATCH={\"enable\":true,\"json\":true};\n")
        } else {
            connection.send("?DEVICES;\n")
        }
    }

    private func ended(_ end: StreamConnection.End) {
        guard let link else { return }
        let wait = reconnect.wait(afterLiving: link.isConnected ? clock.now - link.since : .zero)
        disconnect()
        if isWanted && !hasLoggedTrouble {
            Log.notice("\(name): \(address): \(end); trying again until nobody needs it")
            hasLoggedTrouble = true
        }
        if reconnect.failures >= Self.attemptsBeforeGone { changeDevices { $0.disconnected() } }
        guard isWanted || reconnect.failures < Self.attemptsUnwanted else { return }
        retry = clock.after(wait) { [weak self] in self?.connect() }
    }

    // MARK: Messages

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let connection = link?.connection else { return }
        var messages: [GPSDMessage] = []
        link?.lines.read(bytes) { line in
            if let message = GPSDMessage(line) { messages.append(message) }
        }
        // What a message brings about may end the connection.
        for message in messages where link?.connection === connection { take(message) }
        setAlarm()
    }

    private func take(_ message: GPSDMessage) {
        link?.greeting = nil
        reconnect.worked()
        var events: [GPSDReceivers.Event] = []
        let (now, wallTime) = (clock.now, clock.wallTime)
        changeDevices { events = $0.take(message, at: now, wallTime: wallTime) }
        tell(events)
        switch message {
        case .devices where !isWanted: disconnect()
        case .error(let text): refused(text)
        default: break
        }
    }

    /// Logs what gpsd says against a request, unless it has said so before.
    private func refused(_ text: String) {
        // Whatever it says, no place gets into the log.
        let reason = String(text.prefix(200).map { $0.isNumber ? "#" : $0 })
        guard reason != lastRefusal else { return }
        lastRefusal = reason
        Log.warning("\(name): refused: \(reason)")
    }

    private func tell(_ events: [GPSDReceivers.Event]) {
        for event in events {
            switch event {
            case .fix(let fix): report?(.fix(fix))
            case .live(let source):
                Log.info("\(source): receiver has a fix")
                hasLoggedTrouble = false
            case .lost(let source):
                Log.notice("\(source): receiver lost")
                report?(.lost(source: source))
            }
        }
    }

    private func changeDevices(_ change: (inout GPSDReceivers) -> Void) {
        let before = availableLevel
        change(&receivers)
        if availableLevel != before { report?(.availabilityChanged) }
    }

    // MARK: Time

    private func setAlarm() {
        guard let deadline = receivers.deadline else {
            (alarm, alarmDeadline) = (nil, nil)
            return
        }
        // A watchdog that each fix pushes back is looked at when it fires.
        if alarm?.isPending == true, let alarmDeadline, alarmDeadline <= deadline { return }
        alarmDeadline = deadline
        alarm = clock.after(deadline - clock.now) { [weak self] in self?.alarmFired() }
    }

    private func alarmFired() {
        let events = receivers.expire(at: clock.now)
        tell(events)
        let hasLost = events.contains { if case .lost = $0 { true } else { false } }
        // gpsd may know by now that the device is gone, though it tells nobody by itself.
        if hasLost, link?.isConnected == true { link?.connection.send("?DEVICES;\n") }
        setAlarm()
    }
}
