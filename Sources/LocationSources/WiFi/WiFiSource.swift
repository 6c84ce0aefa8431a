import DBus
import EventLoop
import Geolocation
import Positioning

/// Where the access points are that can be received, by the word of the lookup providers.
///
/// Without a demand it starts no scan and asks nobody. With one it uses every scan, whoever asked for it, has some made
/// (``ScanPolicy``), and asks again only when what is heard is another place, or the last answer is old.
@ServiceActor
package final class WiFiSource: LocationSource {
    package nonisolated let name = "wifi"
    package nonisolated let kind = Fix.Kind.wifi
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// Whether a receiver knows the place so well now that nobody need be asked, and no scan is worth its power: to 50 m,
    /// at most ten seconds ago.
    package var isPositionSharp: (@ServiceActor () -> Bool)?

    /// Whether scans are wanted even then, for ``onScan``.
    package var isScanWanted: (@ServiceActor () -> Bool)?

    /// Called after each reading of what is heard, with all access points that may be told to others.
    package var onScan: (@ServiceActor ([AccessPoint]) -> Void)?

    /// An answer older than this is asked for again, if the same is still heard.
    private static let longestAnswer = Duration.seconds(300)
    /// The chain is never asked again sooner after it could not be asked.
    private static let leastRetry = Duration.seconds(5)
    /// When to look again whether a receiver still knows the place.
    private static let sharpRest = Duration.seconds(10)

    private let scanners: [any WiFiScanner]
    private let lookup: any Geolocating
    private let clock: any Clock
    private var observation: Observation?

    /// The one that is used, as long as any has an adapter.
    private var scanner: (any WiFiScanner)?
    private var demand: Demand?
    private var policy = ScanPolicy()
    /// What came of asking about what is heard now.
    private var answer = Answer.none
    /// Until when nobody is asked, since the last question came to nothing.
    private var failedUntil: Duration?
    private var question: Task<Void, Never>?
    private var lastQuestion: Duration?
    private var lastPlace: FoundPlace?
    private var timer: Timer?
    private var wasSharp = false
    /// Whether what is heard has been read since the source runs.
    private var hasHeard = false
    /// Of the last fix, and whether it was reported since the source runs.
    private var lastFix: (measuredAt: Duration, isOfThisRun: Bool)?
    private var announcedLevel = AccuracyLevel.none

    private enum Answer {
        case none
        case found(FoundPlace, at: Duration)
        /// Nobody knows these access points.
        case unknown
    }

    /// - Parameters:
    ///   - scanners: the first that has an adapter is used.
    ///   - lookup: who is asked where access points are.
    package init(scanners: [any WiFiScanner], lookup: any Geolocating, clock: any Clock) {
        self.scanners = scanners
        self.lookup = lookup
        self.clock = clock
        for scanner in scanners {
            scanner.onEvent = { [weak self, unowned scanner] in self?.take($0, from: scanner) }
        }
        observation = lookup.observe { [weak self] in self?.lookupChanged() }
    }

    /// Takes what wpa_supplicant knows, and where that is not to be had, what NetworkManager does.
    ///
    /// - Parameter connection: to the bus that these are on.
    package convenience init(connection: Connection, lookup: any Geolocating, clock: any Clock) {
        self.init(
            scanners: [
                BusScanner(WPASupplicant(), connection: connection, clock: clock),
                BusScanner(NetworkManagerWiFi(), connection: connection, clock: clock),
            ], lookup: lookup, clock: clock)
    }

    package var availableLevel: AccuracyLevel {
        let isFailing = demand != nil && failedUntil != nil
        return scanner != nil && lookup.isReachable && !isFailing ? .street : .none
    }

    package func discover() {
        lookup.discover()
        for scanner in scanners { scanner.discover() }
    }

    package func run(for demand: Demand?) {
        let wasWanted = self.demand != nil
        self.demand = demand
        if demand == nil {
            stop()
        } else if !wasWanted {
            start()
        } else {
            proceed()
        }
    }

    private func start() {
        policy.restart()
        hasHeard = false
        lastFix?.isOfThisRun = false
        // Another failure has to show first. One that nobody is asked before is still one.
        if let failedUntil, failedUntil <= clock.now { self.failedUntil = nil }
        listen()
        announceLevel()
    }

    private func stop() {
        question?.cancel()
        question = nil
        timer = nil
        listen()
        announceLevel()
    }

    private func listen() {
        for scanner in scanners { scanner.isListening = demand != nil && scanner === self.scanner }
    }

    private func announceLevel() {
        guard availableLevel != announcedLevel else { return }
        announcedLevel = availableLevel
        report?(.availabilityChanged)
    }

    // MARK: Events

    private func take(_ event: WiFiScannerEvent, from scanner: any WiFiScanner) {
        switch event {
        case .adaptersChanged: adaptersChanged()
        case .heard: if demand != nil, scanner === self.scanner { heard(scanner) }
        }
    }

    private func adaptersChanged() {
        let choice = scanners.first { $0.hasAdapter }
        guard choice !== scanner else { return }
        scanner = choice
        hasHeard = false
        listen()
        if choice == nil {
            question?.cancel()
            question = nil
            timer = nil
            if lastFix != nil {
                lastFix = nil
                report?(.lost(source: name))
            }
        }
        announceLevel()
    }

    private func heard(_ scanner: any WiFiScanner) {
        hasHeard = true
        let points = admissible
        if policy.heard(Set(points.map(\.address)), at: scanner.lastScan) { answer = .none }
        if !points.isEmpty { onScan?(points) }
        // The same is heard, so the machine is still there.
        if case .found(let place, _) = answer, !isDue, failedUntil == nil { tell(place, points) }
        proceed()
    }

    private func lookupChanged() {
        if demand != nil {
            if let failedUntil {
                self.failedUntil = min(failedUntil, max(clock.now, (lastQuestion ?? .zero) + Self.leastRetry))
            }
            policy.restart()
        }
        announceLevel()
        proceed()
    }

    // MARK: Scanning and asking

    private var admissible: [AccessPoint] {
        AccessPointFilter(isMoving: policy.isMoving).admissible(scanner?.accessPoints ?? [], at: clock.now)
    }

    /// Whether the chain is to be asked, as far as the last answer goes.
    private var isDue: Bool {
        switch answer {
        case .none: true
        case .found(_, let moment): clock.now - moment >= Self.longestAnswer
        case .unknown: false
        }
    }

    /// Does what is due, and sees to it that it is called again when something else is.
    private func proceed() {
        timer = nil
        guard let demand, let scanner, hasHeard, lookup.isReachable else { return }
        let now = clock.now
        if let failedUntil, failedUntil > now {
            timer = clock.after(failedUntil - now) { [weak self] in
                self?.policy.restart()
                self?.proceed()
            }
            return
        }
        let isSharp = isPositionSharp?() == true
        // Of what was heard while nobody was asked, the last may be too old to ask about.
        if wasSharp, !isSharp, isDue { policy.restart() }
        wasSharp = isSharp
        if !isSharp, question == nil, isDue {
            let query = LookupQuery(accessPoints: admissible)
            if !query.isByAddress, let query = query.sendable { ask(query.accessPoints) }
        }
        guard !isSharp || isScanWanted?() == true else { return wait(until: now + Self.sharpRest) }
        if let next = policy.nextScan(for: demand), next <= now {
            policy.requested(at: now)
            scanner.requestScan()
        }
        let next = [policy.nextScan(for: demand), isSharp ? now + Self.sharpRest : nil].compactMap { $0 }.min()
        if let next { wait(until: next) }
    }

    private func wait(until moment: Duration) {
        timer = clock.after(moment - clock.now) { [weak self] in self?.proceed() }
    }

    private func ask(_ points: [AccessPoint]) {
        lastQuestion = clock.now
        let place = policy.place
        question = ServiceActor.task { [weak self, lookup] in
            let result = await lookup.locate(LookupQuery(accessPoints: points))
            if !Task.isCancelled { self?.answered(result, points, place) }
        }
    }

    private func answered(_ result: LookupResult, _ points: [AccessPoint], _ place: Int) {
        question = nil
        // What is heard may be another place by now. Then this was a fix of its time, and the next question is due.
        let isCurrent = place == policy.place
        switch result {
        case .found(let found) where !found.isByAddress:
            failedUntil = nil
            if isCurrent { answer = .found(found, at: clock.now) }
            if let lastPlace, lastPlace.isApart(from: found) { policy.moved() }
            lastPlace = found
            tell(found, points)
        // An answer by the machine's address says nothing of its access points.
        case .found, .unknown:
            failedUntil = nil
            if isCurrent { answer = .unknown }
        case .unavailable(let retryAt):
            failedUntil = max(retryAt, clock.now + Self.leastRetry)
            policy.restart()
        }
        announceLevel()
        proceed()
    }

    /// Reports that the machine was at `place` when `points` were heard last.
    private func tell(_ place: FoundPlace, _ points: [AccessPoint]) {
        guard var moment = points.map(\.seenAt).max() else { return }
        if let lastFix, moment <= lastFix.measuredAt {
            // The same scan again. Ages are in whole seconds, so it may look a little older.
            guard !lastFix.isOfThisRun, lastFix.measuredAt - moment < .seconds(1) else { return }
            moment = lastFix.measuredAt
        }
        lastFix = (moment, true)
        report?(
            .fix(
                Fix(
                    place.coordinate, accuracy: place.accuracy, measuredAt: moment, kind: kind, source: name,
                    clock: clock)))
    }
}

extension FoundPlace {
    /// Whether it is another place than `other`, and not the same one found less exactly.
    fileprivate func isApart(from other: FoundPlace) -> Bool {
        coordinate.distance(to: other.coordinate) > max(accuracy, other.accuracy)
    }
}
