import DBus
import EventLoop
import Geolocation
import NMEA
import Positioning

/// The satellite receiver in a modem, by way of ModemManager: one modem's at a time.
///
/// The receiver is on only while somebody wants positions. Its sentences are asked for once a second or less often.
@ServiceActor
package final class ModemGNSSSource: LocationSource {
    package nonisolated let name = "modem-gps"
    package nonisolated let kind = Fix.Kind.gnss
    /// Starting a receiver costs more than letting it run on.
    package let stopGrace = Duration.seconds(15)
    package var report: (@ServiceActor (SourceReport) -> Void)?
    package private(set) var availableLevel = AccuracyLevel.none

    /// Between two questions, in seconds. At more than the longest the watchdog would see gaps.
    private static let intervals: ClosedRange<UInt32> = 1...5
    /// Radius in metres of a position that comes without any word of its quality, as ModemManager's raw ones do (its API
    /// reference, `GetLocation`).
    private static let unknownAccuracy = 50.0

    private let directory: ModemDirectory
    private let clock: any Clock
    private var observation: Observation?
    private var demand: Demand?
    private var session: Session?

    /// What exists only while a modem is in use.
    @ServiceActor
    private final class Session {
        let modem: ModemLocation
        let source: ModemSources
        let receiver: NMEAReceiver
        var sentences = ModemSentences()
        var lastPosition: ModemPosition?
        /// Whether what is read first may be of long ago: somebody else has had the receiver on.
        var mayBeOld = false
        var isReading = false
        var next: Timer?

        init(_ modem: ModemLocation, _ receiver: NMEAReceiver) {
            self.modem = modem
            self.receiver = receiver
            source = modem.capabilities.contains(.gnssNMEA) ? .gnssNMEA : .gnssRaw
        }
    }

    package init(directory: ModemDirectory, clock: any Clock) {
        self.directory = directory
        self.clock = clock
    }

    package func discover() {
        guard observation == nil else { return }
        observation = directory.observe { [weak self] in self?.update() }
        directory.start()
        update()
    }

    package func run(for demand: Demand?) {
        self.demand = demand
        if demand == nil {
            session?.receiver.stop()
            leave()
        } else {
            directory.hurry()
        }
        update()
    }

    // MARK: Modems

    /// Uses the modem that it should use, which may be none, and tells what can be had.
    private func update() {
        let modems = directory.modems.filter { !$0.capabilities.isDisjoint(with: .gnss) }
        if demand != nil { choose(among: modems) }
        // What came of using a modem counts as long as it is used; else nobody would ever try again.
        let canServe = demand == nil ? !modems.isEmpty : modems.contains { $0.serves(name) }
        let level = canServe ? AccuracyLevel.exact : .none
        guard level != availableLevel else { return }
        availableLevel = level
        report?(.availabilityChanged)
    }

    /// Keeps to the modem in use while it serves, or none else does.
    private func choose(among modems: [ModemLocation]) {
        let present = modems.first { $0 === session?.modem }
        let choice = [present].compactMap { $0 } + modems
        let modem = choice.first { $0.serves(name) } ?? choice.first
        if modem !== session?.modem {
            session?.receiver.deviceGone()
            session?.receiver.stop()
            leave()
            guard let modem else { return }
            let receiver = NMEAReceiver(name, clock: clock) { [weak self] in self?.report?($0) }
            let session = Session(modem, receiver)
            self.session = session
            modem.use(session.source, for: name)
            session.mayBeOld = modem.isOn(for: name)
        }
        read()
    }

    private func leave() {
        let modem = session?.modem
        session = nil
        modem?.use([], for: name)
    }

    // MARK: Positions

    private func read() {
        guard let session, session.modem.isOn(for: name), !session.isReading, session.next?.isPending != true else {
            return
        }
        session.isReading = true
        ServiceActor.start { [weak self] in
            let values = await session.modem.read()
            session.isReading = false
            self?.take(values ?? [:], in: session)
        }
    }

    private func take(_ values: [ModemSources: Value], in session: Session) {
        guard session === self.session, let demand else { return }
        // Before anything is reported, which may end the session.
        let interval = min(max(demand.minimumInterval, Self.intervals.lowerBound), Self.intervals.upperBound)
        let wait = max(.seconds(Int64(interval)), session.modem.readableFrom - clock.now)
        session.next = clock.after(wait) { [weak self] in self?.read() }
        guard let value = values[session.source], let solution = solution(of: value, in: session) else { return }
        if session.mayBeOld { session.mayBeOld = false } else { session.receiver.tell(solution, at: clock.now) }
    }

    /// - Returns: what is new in what the modem tells.
    private func solution(of value: Value, in session: Session) -> NMEASolution? {
        guard session.source == .gnssRaw else {
            return String(value).flatMap { session.sentences.solution(in: $0, at: clock.now) }
        }
        // Where no time is told, another place is another moment.
        guard let position = ModemPosition(value), position != session.lastPosition,
            position.time == nil || position.time != session.lastPosition?.time
        else { return nil }
        session.lastPosition = position
        return .fix(
            NMEAFix(
                coordinate: position.coordinate, horizontalAccuracy: Self.unknownAccuracy, altitude: position.altitude,
                time: position.time))
    }
}
