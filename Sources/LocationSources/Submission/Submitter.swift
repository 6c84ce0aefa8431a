import EventLoop
import Geolocation
import JSON
import LookupProtocol

/// Tells a lookup service what could be received where, if the administrator wants that (`[wifi] submit-data`).
///
/// It sets no timer and sends only as it is told something, which is while somebody is being located: no request leaves
/// a machine on which nobody is.
@ServiceActor
package final class Submitter {
    /// How far apart in time items are at least; GeoClue's interval.
    package static let spacing = Duration.seconds(60)
    /// So many go at a time, or as many of them as a request holds; or those that are there once the first of them has
    /// waited for ``longestWait``.
    package static let batch = 10
    package static let longestWait = Duration.seconds(900)
    /// How many are kept while the service fails; then the oldest go.
    package static let mostItems = 50

    private let service: LookupProvider
    private let nickname: String?
    private let transport: any LookupTransport
    private let network: any NetworkFollowing
    private let userAgent: String
    private let clock: any Clock

    private var fix: Fix?
    /// What was received last and has not been told yet.
    private var received: [AccessPoint] = []
    private var items: [SurveyItem] = []
    private var lastItem: Duration?
    private var waitingSince: Duration?
    private var health = ProviderHealth()
    private var sending: Task<Void, Never>?

    /// - Parameters:
    ///   - service: its whole address, `/v2/geosubmit` included.
    ///   - nickname: what contributions are counted under; none where it is empty, or nothing that a request may carry.
    package init(
        service: LookupProvider, nickname: String, transport: any LookupTransport, network: any NetworkFollowing,
        userAgent: String, clock: any Clock
    ) {
        self.service = service
        self.nickname = LookupRequest.isNickname(nickname) ? nickname : nil
        if self.nickname == nil, !nickname.isEmpty {
            Log.warning("submission to \(service): the nickname is not visible ASCII, or too long; going without")
        }
        self.transport = transport
        self.network = network
        self.userAgent = userAgent
        self.clock = clock
    }

    isolated deinit { sending?.cancel() }

    /// Takes in where the machine is. Anything but a good fix of a receiver of its own is passed over.
    package func note(_ fix: Fix) {
        guard SurveyItem.isFit(fix) else { return }
        self.fix = fix
        collect()
    }

    /// Takes in what can be received now. Each of them is told once at most.
    package func note(_ accessPoints: [AccessPoint]) {
        received = accessPoints
        collect()
    }

    /// Forgets all that has not been sent.
    package func forget() {
        sending?.cancel()
        (fix, sending, waitingSince) = (nil, nil, nil)
        (received, items) = ([], [])
    }

    private func collect() {
        let isDue = lastItem.map { clock.now - $0 >= Self.spacing } ?? true
        if isDue, let fix, let item = SurveyItem(fix, received) {
            received = []
            lastItem = clock.now
            items.append(item)
            if items.count > Self.mostItems { items.removeFirst() }
            waitingSince = waitingSince ?? clock.now
        }
        sendIfDue()
    }

    // MARK: Sending

    private func sendIfDue() {
        guard let waitingSince, sending == nil, health.rest(at: clock.now) == nil, transport.rest == nil,
            service.isLocal || network.state.isOnline,
            items.count >= Self.batch || clock.now - waitingSince >= Self.longestWait
        else { return }
        guard let (batch, body) = nextBatch else { return forget() }
        items.removeFirst(batch.count)
        self.waitingSince = items.isEmpty ? nil : clock.now
        let request = LookupRequest(url: service.url, userAgent: userAgent, nickname: nickname, body: body)
        sending = ServiceActor.task { [weak self, transport] in
            guard !Task.isCancelled else { return }
            let outcome = await transport.send(request)
            guard !Task.isCancelled else { return }
            self?.sent(batch, outcome)
        }
    }

    /// The oldest items, as many as a request may hold, and how they are written; `nil` where not even one can be.
    private var nextBatch: (items: [SurveyItem], body: [UInt8])? {
        var batch = Array(items.prefix(Self.batch))
        while !batch.isEmpty {
            guard let text = try? JSONValue.object(["items": .array(batch.map(\.json))]).text() else { return nil }
            if text.utf8.count <= LookupLimits.requestBody { return (batch, Array(text.utf8)) }
            batch.removeLast()
        }
        return nil
    }

    private func sent(_ batch: [SurveyItem], _ outcome: LookupOutcome) {
        sending = nil
        let trouble: ProviderTrouble
        switch outcome {
        case .answered(let response) where (200..<300).contains(response.status):
            if health.worked() { Log.notice("submission to \(service) works again") }
            return
        case .failed where transport.rest != nil: return putBack(batch)
        default:
            // Its errors are those of a lookup; a place is not among what it may say.
            guard case .trouble(let found) = LookupFinding(outcome, isByAddress: true) else {
                trouble = ProviderTrouble(.refusal, "it is not there (404)")
                break
            }
            trouble = found
        }
        if health.failed(trouble, at: clock.now, wallTime: Timestamp(microseconds: clock.wallTime)) {
            Log.notice("submission to \(service) fails: \(trouble.reason)")
        }
        // What it does not like it will not like again.
        if trouble.kind != .badRequest { putBack(batch) }
    }

    private func putBack(_ batch: [SurveyItem]) {
        items = (batch + items).suffix(Self.mostItems)
        waitingSince = waitingSince ?? clock.now
    }
}
