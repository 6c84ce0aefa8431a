import DBus
import EventLoop
import Geolocation
import Positioning

/// Where the cells are that the modems of this machine are in: by lookup, or by the word of a CDMA base station.
///
/// A modem says nothing when it changes to another cell without telling everybody on the bus, so it is asked: at each
/// sign of a change (signal, technology, registration), and twice a minute in any case. The lookup is asked only for
/// cells that are new or whose answer is old.
@ServiceActor
package final class CellSource: LocationSource {
    package nonisolated let name = "cell"
    package nonisolated let kind = Fix.Kind.cell
    /// As for all that is switched on in a modem.
    package let stopGrace = Duration.seconds(15)
    package var report: (@ServiceActor (SourceReport) -> Void)?
    package private(set) var availableLevel = AccuracyLevel.none

    /// Whether the place is known so well without asking anybody that no lookup is worth its while.
    package var isPositionSharp: (@ServiceActor () -> Bool)?

    /// Between two looks at the modems.
    static let interval = Duration.seconds(30)
    /// Between two looks that signs bring about, and between two questions for the same cells, at least.
    static let spacing = Duration.seconds(5)
    /// How long an answer is good: a third of the time for which a fix counts.
    static let freshness = Duration.seconds(600)
    /// When to look again whether the place is still known without asking.
    private static let sharpRest = Duration.seconds(10)
    /// Radius in metres around a CDMA base station. Nothing tells its reach, which is some kilometres on land.
    private static let baseStationRadius = 5000.0

    private let directory: ModemDirectory
    private let lookup: (any Geolocating)?
    private let sources: ModemSources
    private let clock: any Clock

    private var observations: [Observation] = []
    private var isWanted = false

    /// Of the modems in use.
    private var signs: [ObjectPath: Observation] = [:]
    private var look = Look.none
    private var lastLook = Duration.zero
    private var nextLook: Timer?
    /// The modems of the last look, and what it saw.
    private var lookedAt: Set<ObjectPath> = []
    private var sight: Sight?
    /// When the last fix was told.
    private var toldAt: Duration?

    private var asked: [CellTower]?
    private var question: Task<Void, Never>?
    private var nextQuestion: Timer?
    /// The last one, kept over stops: what cannot be answered is not asked again because clients come and go.
    private var answer: Answer?

    private enum Look { case none, underWay, overtaken }

    private struct Sight {
        var cells: [CellTower] = []
        var baseStation: ModemPosition?
        let at: Duration
    }

    private struct Answer {
        let cells: [CellTower]
        var result: LookupResult
        let at: Duration

        var isFailure: Bool { if case .found = result { false } else { true } }
    }

    /// - Parameters:
    ///   - lookup: who is asked where cells are; `nil` to leave them out.
    ///   - usesBaseStations: whether the word of a CDMA base station counts.
    package init(
        directory: ModemDirectory, lookup: (any Geolocating)?, usesBaseStations: Bool = true, clock: any Clock
    ) {
        self.directory = directory
        self.lookup = lookup
        self.clock = clock
        sources = (lookup == nil ? [] : ModemSources.cell3GPP).union(usesBaseStations ? .cellCDMA : [])
    }

    package func discover() {
        guard observations.isEmpty else { return }
        lookup?.discover()
        observations = [
            directory.observe { [weak self] in self?.update() },
            lookup?.observe { [weak self] in self?.encouraged() },
        ].compactMap { $0 }
        directory.start()
        update()
    }

    package func run(for demand: Demand?) {
        guard (demand != nil) != isWanted else { return }
        isWanted = demand != nil
        if isWanted { directory.hurry() } else { stop() }
        update()
    }

    private func stop() {
        forgetSight()
        (signs, toldAt) = ([:], nil)
        for modem in directory.modems { modem.use([], for: name) }
    }

    // MARK: Modems

    /// Uses each modem for what it can do, and tells what can be had.
    private func update() {
        if isWanted { useModems() }
        updateLevel()
    }

    private func useModems() {
        let modems = directory.modems.filter { !usable($0).isEmpty }
        signs = signs.filter { path, _ in modems.contains { $0.path == path } }
        for modem in modems {
            if signs[modem.path] == nil {
                signs[modem.path] = modem.signs.add { [weak self] in self?.lookSoon() }
            }
            modem.use(usable(modem), for: name)
        }
        if Set(modems.filter { $0.isOn(for: name) }.map(\.path)) != lookedAt { lookSoon() }
        if modems.isEmpty {
            forgetSight()
            if toldAt != nil { report?(.lost(source: name)) }
            toldAt = nil
        }
    }

    private func usable(_ modem: ModemLocation) -> ModemSources { modem.capabilities.intersection(sources) }

    private func updateLevel() {
        let level = canServe ? AccuracyLevel.neighborhood : .none
        guard level != availableLevel else { return }
        availableLevel = level
        report?(.availabilityChanged)
    }

    private var canServe: Bool {
        // What came of looking and asking counts as long as it runs; else nobody would ever try again.
        if isWanted, let sight, sight.baseStation == nil {
            if sight.cells.isEmpty || answer?.cells == sight.cells && answer?.isFailure == true { return false }
        }
        return directory.modems.contains { modem in
            let usable = usable(modem)
            let canTell = usable.contains(.cellCDMA) || usable.contains(.cell3GPP) && lookup?.isReachable == true
            return canTell && (!isWanted || modem.serves(name))
        }
    }

    // MARK: Looking

    private func lookSoon() {
        guard isWanted else { return }
        guard look == .none else { return look = .overtaken }
        let due = lastLook + Self.spacing
        if due <= clock.now { lookNow() } else { setNextLook(at: due) }
    }

    private func setNextLook(at moment: Duration) {
        nextLook = clock.after(moment - clock.now) { [weak self] in self?.lookNow() }
    }

    private func lookNow() {
        guard isWanted, look == .none else { return }
        let modems = directory.modems.filter { $0.isOn(for: name) }
        guard !modems.isEmpty else { return forgetSight() }
        look = .underWay
        lastLook = clock.now
        lookedAt = Set(modems.map(\.path))
        setNextLook(at: lastLook + Self.interval)
        var sight = Sight(at: clock.now)
        ServiceActor.start { [weak self] in
            for modem in modems { await self?.see(modem, &sight) }
            self?.hasLooked(sight)
        }
    }

    private func see(_ modem: ModemLocation, _ sight: inout Sight) async {
        guard let values = await modem.read() else { return }
        if sources.contains(.cellCDMA), sight.baseStation == nil {
            sight.baseStation = values[.cellCDMA].flatMap { ModemPosition($0) }
        }
        guard sources.contains(.cell3GPP), let text = values[.cell3GPP].flatMap({ String($0) }),
            let technologies = await modem.accessTechnologies(),
            let cell = CellTower(text, technologies: technologies), !sight.cells.contains(cell)
        else { return }
        sight.cells.append(cell)
    }

    private func hasLooked(_ new: Sight) {
        let isOvertaken = look == .overtaken
        look = .none
        // Else nothing is in use any more, or something else.
        if !lookedAt.isEmpty { take(new) }
        if isOvertaken { lookSoon() }
    }

    private func take(_ new: Sight) {
        let old = sight
        sight = new
        if new.cells.isEmpty {
            forgetQuestion()
            if let station = new.baseStation, station != old?.baseStation || isOld(toldAt) {
                tell(station.coordinate, accuracy: Self.baseStationRadius)
            }
        } else {
            askIfNeeded()
        }
        updateLevel()
    }

    private func forgetSight() {
        (sight, nextLook, lookedAt) = (nil, nil, [])
        forgetQuestion()
    }

    // MARK: Asking

    private func askIfNeeded() {
        guard let sight, !sight.cells.isEmpty, sight.cells != asked, let lookup, lookup.isReachable else { return }
        if let answer, answer.cells == sight.cells {
            switch answer.result {
            case .found(let place) where !isOld(answer.at):
                if toldAt == nil { tell(place.coordinate, accuracy: place.accuracy) }
                return
            case .found: break
            case .unknown: return
            case .unavailable(let retryAt):
                let due = max(retryAt, answer.at + Self.spacing)
                guard due <= clock.now else {
                    nextQuestion = clock.after(due - clock.now) { [weak self] in self?.askIfNeeded() }
                    return
                }
            }
        }
        guard isPositionSharp?() != true else {
            nextQuestion = clock.after(Self.sharpRest) { [weak self] in self?.askIfNeeded() }
            return
        }
        ask(sight.cells, lookup)
    }

    private func ask(_ cells: [CellTower], _ lookup: any Geolocating) {
        forgetQuestion()
        asked = cells
        question = ServiceActor.start { [weak self] in
            let result = await lookup.locate(LookupQuery(cells: cells))
            if !Task.isCancelled { self?.answered(result, cells) }
        }
    }

    private func forgetQuestion() {
        question?.cancel()
        (asked, question, nextQuestion) = (nil, nil, nil)
    }

    private func answered(_ result: LookupResult, _ cells: [CellTower]) {
        asked = nil
        answer = Answer(cells: cells, result: result, at: clock.now)
        switch result {
        case .found(let place) where place.isByAddress:
            // That is what the source of addresses tells; of the cells nothing is known.
            answer?.result = .unknown
        case .found(let place): tell(place.coordinate, accuracy: place.accuracy)
        case .unknown: break
        case .unavailable: askIfNeeded()
        }
        updateLevel()
    }

    private func encouraged() {
        if case .unavailable = answer?.result { answer?.result = .unavailable(retryAt: clock.now) }
        askIfNeeded()
        updateLevel()
    }

    private func isOld(_ moment: Duration?) -> Bool { moment.map { clock.now - $0 >= Self.freshness } ?? true }

    /// The modem was in its cell when that was seen, however old the answer is.
    private func tell(_ coordinate: Coordinate, accuracy: Double) {
        guard let sight else { return }
        toldAt = clock.now
        report?(
            .fix(
                Fix(
                    coordinate, accuracy: accuracy, measuredAt: sight.at, kind: kind, source: name, clock: clock)))
    }
}
