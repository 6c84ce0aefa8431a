import EventLoop
import Geolocation
import NMEA
import Positioning

/// What all sources of NMEA sentences share: from bytes, as they arrive, to reports.
///
/// Lives from one start of its source to the next stop, across connections.
@ServiceActor
final class NMEAReceiver {
    /// Called when there is a fix for the first time, and for the first time after a loss.
    var onLife: (@ServiceActor () -> Void)?

    /// How many sentences with a right checksum this stream has had.
    var soundSentences: Int { decoder.soundSentences }

    private let name: String
    private let accuracyFloor: Double
    private let isForeign: Bool
    private let clock: any Clock
    private let report: @ServiceActor (SourceReport) -> Void

    private var decoder = NMEADecoder()
    private let watchdog: FixWatchdog
    private var lastBytes: Duration?
    private var lastFix: Duration?
    private var silence: Timer?
    private var isOver = false

    /// - Parameters:
    ///   - name: what the fixes bear as ``Fix/source``.
    ///   - accuracyFloor: radius in metres below which none of its fixes is believed.
    ///   - isForeign: whether it is a stranger's.
    init(
        _ name: String, accuracyFloor: Double = 0, isForeign: Bool = false, clock: any Clock,
        report: @escaping @ServiceActor (SourceReport) -> Void
    ) {
        self.name = name
        self.accuracyFloor = accuracyFloor
        self.isForeign = isForeign
        self.clock = clock
        self.report = report
        watchdog = FixWatchdog(name, clock: clock)
        watchdog.onLoss = { [weak self] in self?.report(.lost(source: name)) }
    }

    /// Begins with another stream: what the one before left unfinished does not go with it.
    func begin() {
        decoder = NMEADecoder()
        lastBytes = nil
        silence = nil
    }

    /// Ends it: nothing is reported any more.
    func stop() {
        isOver = true
        silence = nil
        watchdog.stop()
    }

    /// Reports the loss that the end of a device means, at once.
    func deviceGone() {
        begin()
        if watchdog.stop() { report(.lost(source: name)) }
    }

    // MARK: Sentences

    func received(_ bytes: UnsafeRawBufferPointer) {
        let now = clock.now
        var solutions: [NMEASolution] = []
        if let lastBytes, now - lastBytes >= EpochAssembler.silence, let solution = decoder.silenceFell() {
            solutions.append(solution)
        }
        lastBytes = now
        solutions += decoder.decode(bytes)
        for solution in solutions where !isOver { tell(solution, at: now) }
        awaitSilence()
    }

    /// Keeps one timer while an epoch is open, which looks at the last arrival when it fires.
    private func awaitSilence() {
        guard let lastBytes, !isOver, decoder.isWaiting, silence?.isPending != true else { return }
        silence = clock.after(lastBytes + EpochAssembler.silence - clock.now) { [weak self] in
            self?.silenceMayHaveFallen()
        }
    }

    private func silenceMayHaveFallen() {
        guard let lastBytes else { return }
        if clock.now - lastBytes >= EpochAssembler.silence, let solution = decoder.silenceFell() {
            tell(solution, at: lastBytes)
        }
        awaitSilence()
    }

    /// Reports what a moment came to, as of its arrival.
    func tell(_ solution: NMEASolution, at arrival: Duration) {
        switch solution {
        case .noFix:
            watchdog.fixDenied()
        case .fix(let found):
            if isForeign, let lastFix, arrival - lastFix < FlowLimit.fixSpacing { return }
            lastFix = arrival
            if watchdog.fixCame(at: arrival) { onLife?() }
            report(.fix(fix(found, at: arrival)))
        }
    }

    private func fix(_ found: NMEAFix, at arrival: Duration) -> Fix {
        Fix(
            coordinate: found.coordinate, horizontalAccuracy: max(found.horizontalAccuracy, accuracyFloor),
            altitude: found.altitude, speed: found.speed, heading: found.heading,
            timestamp: ReceiverClock.timestamp(time: found.time, day: found.day, wallTime: clock.wallTime),
            measuredAt: arrival, kind: .gnss, source: name, isForeign: isForeign)
    }
}
