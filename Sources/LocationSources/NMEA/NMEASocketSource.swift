import EventLoop
import Geolocation
import Positioning

/// A receiver whose NMEA sentences come over a Unix socket (GeoClue's `[network-nmea] nmea-socket`) or TCP.
///
/// Connected only while somebody wants positions. Nothing is ever written.
@ServiceActor
package final class NMEASocketSource: LocationSource {
    package nonisolated let name: String
    package nonisolated let kind = Fix.Kind.gnss
    /// Exact as soon as it is configured: the feeder may come after the client (geoclue-contract.md, 5.1).
    package let availableLevel = AccuracyLevel.exact
    package let stopGrace = Duration.zero
    package var report: (@ServiceActor (SourceReport) -> Void)?

    private let address: StreamAddress
    private let clock: any Clock

    /// What exists only while the source runs.
    private var session: Session?
    private var hasLoggedTrouble = false

    private struct Session {
        var connection: StreamConnection?
        var reconnect = Reconnect.feed
        var decoder = NMEADecoder()
        var watch = FixWatch()
        var connectedAt = Duration.zero
        var lastBytes = Duration.zero
        var retry: Timer?
        var silence: Timer?
        var watchdog: Timer?
    }

    package init(name: String = "nmea-socket", address: StreamAddress, clock: any Clock) {
        self.name = name
        self.address = address
        self.clock = clock
    }

    package func discover() {}

    package func run(for demand: Demand?) {
        if demand == nil {
            session?.connection?.close()
            session = nil
        } else if session == nil {
            session = Session()
            connect()
        }
    }

    // MARK: Connection

    private func connect() {
        session?.decoder = NMEADecoder()
        session?.connectedAt = clock.now
        session?.connection = StreamConnection(to: address, clock: clock) { [weak self] in self?.handle($0) }
    }

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .connected:
            Log.debug("\(name): connected to \(address)")
        case .received(let bytes):
            received(bytes)
        case .ended(let end):
            ended(end)
        }
    }

    private func ended(_ end: StreamConnection.End) {
        guard var session else { return }
        if !hasLoggedTrouble {
            Log.notice("\(name): \(address): \(end); trying again until nobody needs it")
            hasLoggedTrouble = true
        }
        let wait = session.reconnect.wait(afterLiving: clock.now - session.connectedAt)
        session.connection = nil
        session.retry = clock.after(wait) { [weak self] in self?.connect() }
        self.session = session
    }

    // MARK: Sentences

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let connection = session?.connection else { return }
        let now = clock.now
        session?.reconnect.worked()
        var solutions: [NMEASolution] = []
        if let lastBytes = session?.lastBytes, now - lastBytes >= EpochAssembler.silence,
            let solution = session?.decoder.silenceFell()
        {
            solutions.append(solution)
        }
        session?.lastBytes = now
        solutions += session?.decoder.decode(bytes) ?? []
        for solution in solutions where session?.connection === connection { tell(solution, at: now) }
        awaitSilence()
    }

    /// Keeps one timer while an epoch is open, which looks at the last arrival when it fires.
    private func awaitSilence() {
        guard let session, session.decoder.isWaiting, session.silence?.isPending != true else { return }
        let wait = session.lastBytes + EpochAssembler.silence - clock.now
        self.session?.silence = clock.after(wait) { [weak self] in self?.silenceMayHaveFallen() }
    }

    private func silenceMayHaveFallen() {
        guard let lastBytes = session?.lastBytes else { return }
        if clock.now - lastBytes >= EpochAssembler.silence, let solution = session?.decoder.silenceFell() {
            tell(solution, at: lastBytes)
        }
        awaitSilence()
    }

    private func tell(_ solution: NMEASolution, at arrival: Duration) {
        switch solution {
        case .noFix:
            session?.watch.fixDenied()
        case .fix(let found):
            if session?.watch.fixCame(at: arrival) == true {
                Log.info("\(name): receiver has a fix")
                hasLoggedTrouble = false
            }
            awaitLoss()
            report?(.fix(fix(found, at: arrival)))
        }
    }

    private func fix(_ found: NMEAFix, at arrival: Duration) -> Fix {
        Fix(
            coordinate: found.coordinate, horizontalAccuracy: found.horizontalAccuracy, altitude: found.altitude,
            speed: found.speed, heading: found.heading,
            timestamp: ReceiverClock.timestamp(time: found.time, day: found.day, wallTime: clock.wallTime),
            measuredAt: arrival, kind: kind, source: name)
    }

    // MARK: Loss

    private func awaitLoss() {
        guard let deadline = session?.watch.deadline, session?.watchdog?.isPending != true else { return }
        session?.watchdog = clock.after(deadline - clock.now) { [weak self] in self?.mayBeLost() }
    }

    private func mayBeLost() {
        switch session?.watch.expire(at: clock.now) {
        case .silent: Log.debug("\(name): no fix for \(FixWatch.silentAfter)")
        case .lost:
            Log.notice("\(name): no fix for \(FixWatch.lostAfter)")
            report?(.lost(source: name))
        case .live, .waiting, nil: break
        }
        awaitLoss()
    }
}
