import EventLoop
import Geolocation
import Glibc
import Positioning

/// The place that an administrator has written into a file, as long as there is one (GeoClue's `[static-source]`).
@ServiceActor
package final class FixedPlaceSource: LocationSource {
    package nonisolated let name = "static"
    package nonisolated let kind = Fix.Kind.fixed
    package var report: (@ServiceActor (SourceReport) -> Void)?

    /// The file is read at most once in this time, however often it changes.
    private static let rest = Duration.seconds(1)

    private let path: String
    private let clock: any Clock

    private var place: FixedPlace?
    private var isWanted = false
    private var watch: PathWatch?
    private var lastReading: Duration?
    private var nextReading: Timer?
    private var lastTrouble: String?

    package init(path: String, clock: any Clock) {
        self.path = path
        self.clock = clock
    }

    package var availableLevel: AccuracyLevel { place == nil ? .none : .exact }

    /// Reads the file, and again whenever it changes, whether or not anybody asks: it decides what can be had.
    package func discover() {
        guard watch == nil else { return }
        watch = PathWatch(path) { [weak self] in self?.fileChanged() }
        readFile()
    }

    package func run(for demand: Demand?) {
        let wasWanted = isWanted
        isWanted = demand != nil
        if isWanted, !wasWanted { tell() }
    }

    private func fileChanged() {
        guard nextReading == nil else { return }
        let wait = lastReading.map { $0 + Self.rest - clock.now } ?? .zero
        guard wait > .zero else { return readFile() }
        nextReading = clock.after(wait) { [weak self] in
            self?.nextReading = nil
            self?.readFile()
        }
    }

    private func readFile() {
        lastReading = clock.now
        let before = place
        place = read()
        guard place != before else { return }
        let wasWanted = isWanted
        if before == nil || place == nil { report?(.availabilityChanged) }
        if place == nil {
            report?(.lost(source: name))
        } else if wasWanted {
            // Started by that report, it has told it already.
            tell()
        }
    }

    private func read() -> FixedPlace? {
        var trouble: String?
        defer {
            if let trouble, trouble != lastTrouble { Log.warning("\(name): \(path): \(trouble)") }
            lastTrouble = trouble
        }
        do {
            return try FixedPlace(parsing: FileContents.read(path, limit: FixedPlace.sizeLimit))
        } catch FileContents.Problem.failed(ENOENT) {
            return nil
        } catch {
            trouble = "\(error)"
            return nil
        }
    }

    private func tell() {
        guard isWanted, let place else { return }
        report?(
            .fix(
                Fix(
                    coordinate: place.coordinate, horizontalAccuracy: place.horizontalAccuracy,
                    altitude: place.altitude, timestamp: Timestamp(microseconds: clock.wallTime),
                    measuredAt: clock.now, kind: kind, source: name)))
    }
}
