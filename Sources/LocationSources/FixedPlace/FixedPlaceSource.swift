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

    private let path: String
    private let clock: any Clock

    private var place: FixedPlace?
    private var isWanted = false
    private var watch: PathWatch?
    private var lastTrouble: String?

    package init(path: String, clock: any Clock) {
        self.path = path
        self.clock = clock
    }

    package var availableLevel: AccuracyLevel { place == nil ? .none : .exact }

    /// Reads the file, and again whenever it changes, whether or not anybody asks: it decides what can be had.
    package func discover() {
        guard watch == nil else { return }
        let reading = PacedJob(clock: clock) { [weak self] in self?.readFile() }
        watch = PathWatch(path) { reading.request() }
        reading.request()
    }

    package func run(for demand: Demand?) {
        let wasWanted = isWanted
        isWanted = demand != nil
        if isWanted, !wasWanted { tell() }
    }

    private func readFile() {
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
