import EventLoop
import Geolocation
import Positioning

/// Where the machine's address is, as a lookup provider knows it: the town at best.
///
/// The address belongs to the way in which the machine is connected. With another one the fix counts no more, and the
/// question is put anew; behind a tunnel it is not put, and the last fix only ages, since the answer would be where the
/// tunnel ends. That such a place never stands against one that was measured is for arbitration to see to, by its radius
/// and by `measuresPlace`: here is nothing to compare it with.
@ServiceActor
package final class IPSource: LocationSource {
    package nonisolated let name = "ip"
    package nonisolated let kind = Fix.Kind.ip
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// Whether the place is known so well without asking anybody that the question need not be put.
    package var isPositionSharp: (@ServiceActor () -> Bool)?

    /// A connection that changes all the time does not make a request each time; one that moves twice at once is served.
    private static let moveSpacing = Duration.seconds(5)

    /// How often the question is put while somebody waits for the answer. Behind a router the address may change unseen;
    /// an hour is a sixth of what a fix lives, so that none expires over a few failures, and lets its radius grow by no
    /// more than 11 km.
    private static let interval = Duration.seconds(3600)
    /// A question that is open for longer counts as one without an answer, until that comes: a client is to know within
    /// 10 s.
    private static let patience = Duration.seconds(8)
    /// For how long after that it may stay open.
    private static let slowness = LookupProcess.answerTime - patience
    /// How long a failure is remembered at most once nobody asks any more.
    private static let longestGrudge = Duration.seconds(300)
    /// When to look again whether the place is still known without asking.
    private static let sharpRest = Duration.seconds(10)
    /// However early the providers say that they may be asked again.
    private static let leastWait = Duration.seconds(1)

    private let lookup: any Geolocating
    private let network: any NetworkFollowing
    private let accuracy: Double?
    private let clock: any Clock

    private var observations: [Observation] = []
    /// How the machine was connected, last seen outside of a tunnel.
    private var attachment: UInt64?
    private var isWanted = false
    private var hasFix = false
    private var search: Task<Void, Never>?
    private var patience: Timer?
    /// Whether the question that is open has been so for longer than a client is to wait.
    private var isSlow = false
    private var nextQuestion: Timer?
    /// When it was last asked at once because the machine was connected in another way.
    private var lastMove: Duration?
    /// When asking again is of use, after a question without an answer.
    private var failedUntil: Duration?
    private var toldLevel = AccuracyLevel.none

    /// - Parameter accuracy: radius in metres that every fix gets, whatever the provider says; never less than
    ///   what is believed of an address at all.
    package init(
        lookup: any Geolocating, network: any NetworkFollowing, accuracy: Double? = nil, clock: any Clock
    ) {
        self.lookup = lookup
        self.network = network
        self.accuracy = accuracy
        self.clock = clock
        toldLevel = availableLevel
    }

    /// What can be had is a town. Whether the providers fail is known only while they are asked: whoever looks before he
    /// starts is not kept from it by what was.
    package var availableLevel: AccuracyLevel { canAsk && failedUntil == nil && !isSlow ? .city : .none }

    private var canAsk: Bool { lookup.isReachable && !network.state.isTunnelled }

    package func discover() {
        guard observations.isEmpty else { return }
        network.discover()
        lookup.discover()
        observations = [
            network.observe { [weak self] in self?.surroundingsChanged() },
            lookup.observe { [weak self] in self?.surroundingsChanged() },
        ]
        surroundingsChanged()
    }

    package func run(for demand: Demand?) {
        let wasWanted = isWanted
        isWanted = demand != nil
        if isWanted, !wasWanted {
            nextQuestion = nil
            ask()
        } else if !isWanted, wasWanted {
            giveUp()
            // Told late: another source may have taken over because of it, and both would take turns. By the end that an
            // open question has, whoever asks again is told at once what came of it.
            let moment = failedUntil.map { min($0, clock.now + Self.longestGrudge) } ?? clock.now + Self.slowness
            guard toldLevel != availableLevel || failedUntil != nil else { return }
            nextQuestion = clock.after(moment - clock.now) { [weak self] in
                self?.failedUntil = nil
                self?.tellLevel()
            }
        }
    }

    private func surroundingsChanged() {
        let state = network.state
        if state.isTunnelled {
            if isWanted { giveUp() }
        } else if state.attachment != attachment {
            let isMove = attachment != nil && isWanted
            attachment = state.attachment
            giveUp()
            failedUntil = nil
            if isMove, let lastMove, clock.now - lastMove < Self.moveSpacing {
                askAgain(at: lastMove + Self.moveSpacing)
            } else if isMove {
                lastMove = clock.now
            }
            if hasFix {
                hasFix = false
                report?(.lost(source: name))
            }
        } else if !isWanted {
            // Asking has become worth while, so that the failure is no longer true.
            (failedUntil, nextQuestion) = (nil, nil)
        }
        tellLevel()
        if nextQuestion == nil || failedUntil != nil { ask() }
    }

    // MARK: Asking

    private func ask() {
        guard isWanted, search == nil, canAsk else { return }
        guard isPositionSharp?() != true else { return askAgain(at: clock.now + Self.sharpRest) }
        nextQuestion = nil
        patience = clock.after(Self.patience) { [weak self] in
            self?.isSlow = true
            self?.tellLevel()
        }
        search = ServiceActor.task { [weak self, lookup] in
            guard !Task.isCancelled else { return }
            let result = await lookup.locate(LookupQuery())
            guard !Task.isCancelled else { return }
            self?.take(result)
        }
    }

    private func giveUp() {
        search?.cancel()
        (search, patience, nextQuestion, isSlow) = (nil, nil, nil, false)
    }

    private func take(_ result: LookupResult) {
        giveUp()
        switch result {
        case .found(let place):
            failedUntil = nil
            askAgain(at: place.measuredAt + Self.interval)
            tellLevel()
            tell(place)
        case .unknown: failed(until: clock.now + Self.interval)
        case .unavailable(let retryAt): failed(until: retryAt)
        }
    }

    private func failed(until moment: Duration) {
        failedUntil = moment
        askAgain(at: moment)
        tellLevel()
    }

    private func askAgain(at moment: Duration) {
        nextQuestion = clock.after(max(moment - clock.now, Self.leastWait)) { [weak self] in
            self?.nextQuestion = nil
            self?.ask()
        }
    }

    // MARK: Telling

    private func tellLevel() {
        let level = availableLevel
        guard level != toldLevel else { return }
        toldLevel = level
        report?(.availabilityChanged)
    }

    private func tell(_ place: FoundPlace) {
        guard isWanted else { return }
        hasFix = true
        report?(
            .fix(
                Fix(
                    place.coordinate, accuracy: max(accuracy ?? place.accuracy, kind.accuracyFloor),
                    measuredAt: place.measuredAt, kind: kind, source: name, clock: clock)))
    }
}
