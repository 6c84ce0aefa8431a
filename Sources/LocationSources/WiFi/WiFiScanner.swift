import EventLoop

/// Something that knows what the machine's Wi-Fi adapters hear.
@ServiceActor
package protocol WiFiScanner: AnyObject, Sendable {
    /// Whether there is an adapter that it can tell of.
    var hasAdapter: Bool { get }

    /// What the adapters heard, as far as it is known while ``isListening``. Not filtered.
    var accessPoints: [SeenAccessPoint] { get }

    /// When the last scan ended, by anybody's request, as time since boot. `nil` if none is known.
    var lastScan: Duration? { get }

    var onEvent: (@ServiceActor (WiFiScannerEvent) -> Void)? { get set }

    /// Begins to follow which adapters there are. Never makes an adapter do anything.
    func discover()

    /// Whether it follows what adapters hear: whoever asks for scans, they are of use to us.
    var isListening: Bool { get set }

    /// Asks every adapter for a scan. Where one is not to be had now, the next one of somebody else has to do.
    func requestScan()
}

package enum WiFiScannerEvent: Sendable, Equatable {
    /// ``WiFiScanner/hasAdapter`` has changed.
    case adaptersChanged
    /// ``WiFiScanner/accessPoints`` have been read.
    case heard
}
