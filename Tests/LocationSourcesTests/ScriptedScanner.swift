import EventLoop
import LocationSources

/// A scanner that hears what a test says, and remembers when it was asked for scans.
@ServiceActor
final class ScriptedScanner: WiFiScanner {
    var hasAdapter: Bool { didSet { if hasAdapter != oldValue { onEvent?(.adaptersChanged) } } }
    private(set) var accessPoints: [SeenAccessPoint] = []
    private(set) var lastScan: Duration?
    var onEvent: (@ServiceActor (WiFiScannerEvent) -> Void)?
    var isListening = false { didSet { if isListening && !oldValue { onListen?() } } }
    private(set) var discoveries = 0
    private(set) var requests: [Duration] = []

    /// What becomes of a request for a scan.
    var onRequest: (@ServiceActor () -> Void)?
    var onListen: (@ServiceActor () -> Void)?

    private let clock: any Clock

    init(hasAdapter: Bool = true, clock: any Clock) {
        self.hasAdapter = hasAdapter
        self.clock = clock
    }

    func discover() {
        discoveries += 1
        if hasAdapter { onEvent?(.adaptersChanged) }
    }

    func requestScan() {
        requests.append(clock.now)
        onRequest?()
    }

    /// A scan has ended, and heard these.
    func hear(_ addresses: some Sequence<UInt64>, name: String = "home", age: Duration = .zero) {
        lastScan = clock.now - age
        accessPoints = addresses.map { address in
            SeenAccessPoint(
                name: Array(name.utf8),
                accessPoint: AccessPoint(
                    address: address, signal: -40 - Int(address % 50), frequency: 2412, seenAt: clock.now - age))
        }
        if isListening { onEvent?(.heard) }
    }
}
