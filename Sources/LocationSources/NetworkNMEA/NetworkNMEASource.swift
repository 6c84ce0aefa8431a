import DBus
import EventLoop
import Geolocation
import Positioning

/// Receivers that strangers offer on the local network (`_nmea-0183._tcp`, as phones do), one at a time.
///
/// A stranger may be wrong, and may mean harm: nothing is ever written to one, its radius is never believed to be that
/// of a receiver of one's own, and its fixes are marked as foreign, so that they never stand against such a receiver.
@ServiceActor
package final class NetworkNMEASource: LocationSource {
    package nonisolated let name = "network-nmea"
    package nonisolated let kind = Fix.Kind.gnss
    package let stopGrace = Duration.zero
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// How long a service may take for its first fix, if there is another one.
    private static let patience = Duration.seconds(30)
    /// When those that have failed are tried again.
    private static let rest = Duration.seconds(5)

    private let connection: Connection
    private let clock: any Clock

    private var browser: ServiceBrowser?
    private var board = ServiceBoard()
    private var isWanted = false
    private var listening: Listening?
    private var nextRound: Timer?
    /// What has been said of services that are on the board.
    private(set) var complaints: [NetworkService: Complaint] = [:]

    /// The service that is listened to.
    private struct Listening {
        let service: NetworkService
        let feed: NMEAFeed
        var patience: Timer?
    }

    /// - Parameter connection: to the bus that Avahi is on.
    package init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

    package var availableLevel: AccuracyLevel { board.level }

    package func discover() {
        guard browser == nil else { return }
        browser = ServiceBrowser("_nmea-0183._tcp", over: connection, clock: clock) { [weak self] in self?.take($0) }
    }

    package func run(for demand: Demand?) {
        isWanted = demand != nil
        if !isWanted {
            board.forgive()
            nextRound = nil
        }
        listen()
    }

    // MARK: Services

    private func take(_ event: ServiceBrowser.Event) {
        let before = board.level
        switch event {
        case .found(let name, let host, let port, let txt):
            // One that has nothing to give, or no longer, is as good as gone. One more address that leads nowhere takes
            // nothing from it.
            if NetworkService.level(txt) == .none {
                board.remove(name)
            } else if let service = NetworkService(name: name, host: host, port: port, txt: txt) {
                board.add(service)
            }
        case .gone(let name): board.remove(name)
        case .reset: board.removeAll()
        }
        if board.level != before { report?(.availabilityChanged) }
        if let service = listening?.service, !board.services.contains(service) {
            let source = source(of: service)
            leave()
            report?(.lost(source: source))
        }
        complaints = complaints.filter { service, _ in board.services.contains(service) }
        listen()
    }

    private func source(of service: NetworkService) -> String { "\(name):\(service.address)" }

    // MARK: Listening

    /// Listens to the service that it should listen to, which may be none.
    private func listen() {
        let choice = isWanted ? board.choice : nil
        guard choice != listening?.service else { return }
        leave()
        guard let choice else { return }
        let feed = NMEAFeed(
            source(of: choice), from: choice.address, accuracyFloor: choice.accuracyFloor, isForeign: true,
            clock: clock)
        feed.report = { [weak self] in self?.take($0) }
        feed.onEnd = { [weak self] in self?.failed() }
        if let complaint = complaints[choice] { feed.complaint = complaint }
        listening = Listening(service: choice, feed: feed)
        awaitFirstFix()
        feed.start()
    }

    private func awaitFirstFix() {
        listening?.patience = clock.after(Self.patience) { [weak self] in
            // Where there is no other one, it may take as long as it likes.
            self?.awaitFirstFix()
            self?.failed()
        }
    }

    private func leave() {
        guard let listening else { return }
        listening.feed.stop()
        complaints[listening.service] = listening.feed.complaint
        self.listening = nil
    }

    private func take(_ report: SourceReport) {
        switch report {
        case .fix: listening?.patience = nil
        case .lost: failed()
        case .availabilityChanged: break
        }
        self.report?(report)
    }

    /// Goes on to another service. Where there is none, the feed sees for itself that it comes back.
    private func failed() {
        guard let service = listening?.service, board.hasAlternative(to: service) else { return }
        board.fail(service)
        listen()
        guard board.choice == nil, nextRound == nil else { return }
        nextRound = clock.after(Self.rest) { [weak self] in
            self?.nextRound = nil
            self?.board.forgive()
            self?.listen()
        }
    }
}
