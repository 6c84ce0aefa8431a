import DBus
import EventLoop

/// Follows a ``WirelessService`` on the bus, which is never started, may come late and leave, and may do anything.
///
/// A service that does not answer has no adapters, and is asked again after waits that grow: it is found again no later
/// after it has come back to itself than it was away, and within five minutes. One that the bus keeps from us is not
/// asked again until it is another process.
@ServiceActor
package final class BusScanner: WiFiScanner {
    package var onEvent: (@ServiceActor (WiFiScannerEvent) -> Void)?
    package private(set) var lastScan: Duration?
    package var isListening = false {
        didSet { if isListening != oldValue { listen() } }
    }

    /// How long a reading may take, all calls together.
    static let patience = Duration.seconds(5)
    private static let accessDenied = BusError.accessDenied("").name
    private static let waits = Reconnect.Waits(first: .seconds(5), limit: .seconds(300))

    private let service: any WirelessService
    private let connection: Connection
    private let clock: any Clock

    private var ownerWatch: Subscription?
    /// Which process is asked; answers of one before count no more.
    private var owner: BusName?
    /// The adapters, with what they heard.
    private var adapters: [ObjectPath: [SeenAccessPoint]] = [:]
    /// Adapters whose lists are made up.
    private var liars: Set<ObjectPath> = []
    private var adapterSignals: [Subscription] = []
    private var scanSignals: [Subscription] = []
    private var reading: PacedJob!
    private var looking: PacedJob!
    /// Adapters that have not answered yet whether they will scan.
    private var asked: Set<ObjectPath> = []

    private var complaint = Complaint()
    private var scanComplaint = Complaint()
    private var listComplaint = Complaint()
    /// Whether it named its adapters, and then not what they heard.
    private var hangsOnLists = false
    private var step = 0
    private var retry: Timer?

    package init(_ service: any WirelessService, connection: Connection, clock: any Clock) {
        self.service = service
        self.connection = connection
        self.clock = clock
        looking = PacedJob(clock: clock) { [weak self] in await self?.findAdapters() }
        reading = PacedJob(clock: clock) { [weak self] in await self?.readLists() }
    }

    package var hasAdapter: Bool { !adapters.isEmpty }

    package var accessPoints: [SeenAccessPoint] { adapters.values.flatMap { $0 } }

    package func discover() {
        guard ownerWatch == nil else { return }
        ownerWatch = connection.followOwner(of: service.busName) { [weak self] in self?.ownerChanged($0) }
    }

    private func ownerChanged(_ name: BusName?) {
        guard name != owner else { return }
        owner = name
        liars = []
        (step, retry, hangsOnLists) = (0, nil, false)
        looking.cancel()
        setAdapters([])
        listen()
        // Before the first question, so that no change is missed.
        adapterSignals = (name.map { service.adapterSignals(of: $0) } ?? []).map { rule in
            connection.subscribe(to: rule) { [weak self] _ in self?.looking.request() }
        }
        if name != nil { looking.request() }
    }

    // MARK: Adapters

    private func findAdapters() async {
        guard let owner else { return }
        do throws(BusError) {
            let found = try await service.adapters(talk(to: owner))
            guard self.owner == owner else { return }
            if !hangsOnLists { recovered() }
            setAdapters(found)
        } catch {
            if self.owner == owner { failed(error) }
        }
    }

    private func setAdapters(_ paths: [ObjectPath]) {
        let hadAdapter = hasAdapter
        let paths = Set(paths).subtracting(liars)
        let hasNews = paths.contains { adapters[$0] == nil }
        adapters = Dictionary(uniqueKeysWithValues: paths.map { ($0, adapters[$0] ?? []) })
        if hasNews && isListening { reading.request() }
        if hasAdapter != hadAdapter { onEvent?(.adaptersChanged) }
    }

    // MARK: Lists

    private func listen() {
        reading.cancel()
        adapters = adapters.mapValues { _ in [] }
        lastScan = nil
        scanSignals = []
        guard isListening, let owner else { return }
        scanSignals = service.scanSignals(of: owner).map { rule in
            connection.subscribe(to: rule) { [weak self] in self?.received($0) }
        }
        if hasAdapter { reading.request() }
    }

    private func received(_ signal: Message) {
        guard let path = signal.path, adapters[path] != nil, let news = service.news(in: signal) else { return }
        if news == .scan { lastScan = clock.now }
        reading.request()
    }

    private func readLists() async {
        guard let owner else { return }
        for adapter in adapters.keys.sorted() {
            do throws(BusError) {
                let list = try await service.accessPoints(of: adapter, talk(to: owner))
                guard isWanted(owner) else { return }
                if let list { believe(list, of: adapter) } else { distrust(adapter) }
            } catch {
                guard isWanted(owner) else { return }
                if error.name == BusError.noReply.name || error.name == Self.accessDenied {
                    hangsOnLists = true
                    return failed(error)
                }
                // The adapter may have gone.
                looking.request()
            }
        }
        guard isWanted(owner), hasAdapter else { return }
        hangsOnLists = false
        recovered()
        // Ages are in whole seconds, so what was heard in that scan may look a second younger than its end.
        if let newest = accessPoints.map(\.accessPoint.seenAt).max(), newest > (lastScan ?? .zero) + .seconds(1) {
            lastScan = newest
        }
        onEvent?(.heard)
    }

    /// Whether what is being read of a process still matters.
    private func isWanted(_ owner: BusName) -> Bool { self.owner == owner && isListening && !Task.isCancelled }

    private func believe(_ list: [SeenAccessPoint], of adapter: ObjectPath) {
        adapters[adapter]? = list
        if liars.isEmpty, !list.isEmpty { listComplaint.settle("\(service.busName) makes up no addresses any more") }
    }

    private func distrust(_ adapter: ObjectPath) {
        listComplaint.raise("\(service.busName) makes up the addresses of access points; they are not used")
        liars.insert(adapter)
        setAdapters(adapters.keys.filter { $0 != adapter })
    }

    // MARK: Scans

    package func requestScan() {
        guard let owner else { return }
        for adapter in adapters.keys where asked.insert(adapter).inserted {
            ServiceActor.start { [weak self] in await self?.scan(with: adapter, owner) }
        }
    }

    private func scan(with adapter: ObjectPath, _ owner: BusName) async {
        defer { asked.remove(adapter) }
        do throws(BusError) {
            try await service.scan(with: adapter, talk(to: owner))
            scanComplaint.settle("\(service.busName) lets us scan again")
        } catch {
            guard self.owner == owner else { return }
            switch error.name {
            // Whether it hangs, or only this question, is seen by asking for something else.
            case BusError.noReply.name: if isListening { reading.request() }
            case let name where name.string.hasSuffix("Denied"):
                scanComplaint.raise("\(service.busName) does not let us scan; scans of others have to do")
            // Busy, or not now: whatever scan comes next serves as well.
            default: Log.debug("\(service.busName) does not scan now: \(error.name)")
            }
        }
    }

    // MARK: Troubles

    private func talk(to owner: BusName) -> WirelessTalk {
        WirelessTalk(connection: connection, peer: owner, clock: clock, deadline: clock.now + Self.patience)
    }

    private func failed(_ error: BusError) {
        complaint.raise("\(service.busName) does not tell of Wi-Fi adapters: \(error.name)")
        if error.name != Self.accessDenied {
            retry = clock.after(Self.waits.wait(step)) { [weak self] in self?.looking.request() }
            step += 1
        }
        setAdapters([])
    }

    private func recovered() {
        complaint.settle("\(service.busName) answers again")
        (step, retry) = (0, nil)
    }
}
