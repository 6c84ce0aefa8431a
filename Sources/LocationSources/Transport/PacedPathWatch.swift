import EventLoop

/// Sees to it that a file is read after each change, but at most once a second, however often it changes.
@ServiceActor
final class PacedPathWatch {
    private static let rest = Duration.seconds(1)

    private let clock: any Clock
    private let onRead: @ServiceActor () -> Void
    private var watch: PathWatch?
    private var lastReading: Duration?
    private var nextReading: Timer?

    /// Watches, without a first reading.
    init(_ path: String, clock: any Clock, _ onRead: @escaping @ServiceActor () -> Void) {
        self.clock = clock
        self.onRead = onRead
        watch = PathWatch(path) { [weak self] in self?.changed() }
    }

    func read() {
        lastReading = clock.now
        onRead()
    }

    private func changed() {
        guard nextReading == nil else { return }
        let wait = lastReading.map { $0 + Self.rest - clock.now } ?? .zero
        guard wait > .zero else { return read() }
        nextReading = clock.after(wait) { [weak self] in
            self?.nextReading = nil
            self?.read()
        }
    }
}
