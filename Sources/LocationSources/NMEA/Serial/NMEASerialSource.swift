import EventLoop
import Geolocation
import Glibc
import Positioning

/// A receiver at a serial port, or what looks like one: USB, Bluetooth, the kernel's GNSS subsystem.
///
/// Open only while somebody wants positions. Whether the device is there is known all the time, from its folder.
@ServiceActor
package final class NMEASerialSource: LocationSource {
    package nonisolated let name = "nmea-serial"
    package nonisolated let kind = Fix.Kind.gnss
    /// Many adapters power the receiver by the lines that opening the port raises.
    package let stopGrace = Duration.seconds(15)
    package var report: (@ServiceActor (SourceReport) -> Void)?

    private let device: String
    private let clock: any Clock

    private var presence: PathWatch?
    private var isPresent = false
    private var search: SpeedSearch
    private var session: Session?
    private var hasLoggedTrouble = false

    /// What exists only while the source runs.
    private struct Session {
        let receiver: NMEAReceiver
        var port: SerialPort?
        var retry: Timer?
        /// Waits are for a device that is there and cannot be opened; one that is absent is not looked for.
        var waits = Reconnect(
            refused: .init(first: .seconds(1), limit: .seconds(30)),
            ended: .init(first: .seconds(1), limit: .seconds(30)))
        var openedAt = Duration.zero
        var patience: Timer?
        var soundSentences = 0
        var lastSound = Duration.zero
    }

    /// - Parameters:
    ///   - device: path of the device, or of a symbolic link to it.
    ///   - speed: in bits a second; `nil` to try the usual ones.
    package init(device: String, speed: Int? = nil, clock: any Clock) {
        self.device = device
        self.clock = clock
        search = SpeedSearch(speed: speed)
    }

    package var availableLevel: AccuracyLevel { isPresent ? .exact : .none }

    package func discover() {
        guard presence == nil else { return }
        presence = PathWatch(device) { [weak self] in self?.deviceMayHaveChanged() }
        look()
    }

    package func run(for demand: Demand?) {
        if demand == nil {
            session?.receiver.stop()
            session?.port?.close()
            session = nil
        } else if session == nil {
            let receiver = NMEAReceiver(name, clock: clock) { [weak self] in self?.report?($0) }
            receiver.onLife = { [weak self] in self?.hasLoggedTrouble = false }
            session = Session(receiver: receiver)
            open()
        }
    }

    // MARK: Presence

    private func deviceMayHaveChanged() {
        look()
        // Access is often given a moment after the device has come.
        if isPresent, session?.port == nil { open() }
    }

    private func look() {
        var status = stat()
        let isThere = stat(device, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
        guard isThere != isPresent else { return }
        isPresent = isThere
        Log.info("\(name): \(device) is \(isThere ? "there" : "not there")")
        report?(.availabilityChanged)
    }

    // MARK: Port

    private func open() {
        guard let receiver = session?.receiver, session?.port == nil else { return }
        session?.retry = nil
        receiver.begin()
        do throws(SerialPort.Problem) {
            session?.port = try SerialPort(device, speed: search.speed) { [weak self] in self?.handle($0) }
            session?.openedAt = clock.now
            beginListening()
            Log.debug("\(name): listening to \(device)")
        } catch {
            failed(error)
        }
    }

    private func handle(_ event: SerialPort.Event) {
        switch event {
        case .received(let bytes):
            session?.waits.worked()
            received(bytes)
        case .gone(let problem):
            session?.receiver.deviceGone()
            failed(problem)
        }
    }

    private func failed(_ problem: SerialPort.Problem) {
        let lifetime = session?.port == nil ? .zero : clock.now - (session?.openedAt ?? .zero)
        session?.port?.close()
        session?.port = nil
        session?.patience = nil
        look()
        if !hasLoggedTrouble {
            Log.notice("\(name): \(device): \(problem); waiting for it until nobody needs it")
            hasLoggedTrouble = true
        }
        guard isPresent, let wait = session?.waits.wait(afterLiving: lifetime) else { return }
        session?.retry = clock.after(wait) { [weak self] in self?.open() }
    }

    // MARK: Speed

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let receiver = session?.receiver else { return }
        receiver.received(bytes)
        // A report may have ended the session.
        guard var session else { return }
        if receiver.soundSentences > session.soundSentences {
            session.soundSentences = receiver.soundSentences
            session.lastSound = clock.now
            search.heard(session.soundSentences)
        } else if search.isSettled, clock.now - session.lastSound >= SpeedSearch.doubtAfter {
            search.doubt()
        }
        if !search.isSettled, session.patience == nil {
            session.patience = clock.after(SpeedSearch.patience) { [weak self] in self?.patienceEnded() }
        }
        self.session = session
    }

    private func patienceEnded() {
        session?.patience = nil
        guard search.patienceEnded(), let port = session?.port else { return }
        do throws(SerialPort.Problem) {
            try port.setSpeed(search.speed)
            session?.receiver.begin()
            beginListening()
        } catch {
            failed(error)
        }
    }

    private func beginListening() {
        session?.soundSentences = 0
        session?.lastSound = clock.now
    }
}
