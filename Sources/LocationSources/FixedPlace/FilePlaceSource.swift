import EventLoop
import Geolocation
import Glibc
import Positioning

/// The place that a file of this machine tells of, as long as it does.
@ServiceActor
package final class FilePlaceSource: LocationSource {
    package nonisolated let name: String
    package nonisolated let kind: Fix.Kind
    package var report: (@ServiceActor (SourceReport) -> Void)?

    private let level: AccuracyLevel
    private let path: String
    private let clock: any Clock
    /// Comes back with `nil` where it is in order that there is no place; what it throws is logged.
    private let read: @ServiceActor () throws -> FixedPlace?

    private var place: FixedPlace?
    private var isWanted = false
    private var watch: PathWatch?
    private var lastTrouble: String?

    private init(
        _ name: String, _ kind: Fix.Kind, _ level: AccuracyLevel, watching path: String, clock: any Clock,
        read: @escaping @ServiceActor () throws -> FixedPlace?
    ) {
        (self.name, self.kind, self.level, self.path, self.clock, self.read) = (name, kind, level, path, clock, read)
    }

    /// The place that an administrator has written down (GeoClue's `[static-source]`).
    package static func fixed(_ path: String, clock: any Clock) -> FilePlaceSource {
        FilePlaceSource("static", .fixed, .exact, watching: path, clock: clock) {
            do {
                return try FixedPlace(parsing: FileContents.read(path, limit: FixedPlace.sizeLimit))
            } catch FileContents.Problem.failed(ENOENT) {
                return nil
            }
        }
    }

    /// The principal city of the system's time zone: a place without any network, as good as the country.
    ///
    /// A zone may be as large as China, and its table says nothing of that. So its fix claims what a country is taken for
    /// on the accuracy scale and no more, in its radius as in its level.
    ///
    /// - Parameters:
    ///   - link: what leads to the zone's file (localtime(5)).
    ///   - database: the folder with the zone tables.
    package static func timeZone(
        link: String = "/etc/localtime", database: String = "/usr/share/zoneinfo", clock: any Clock
    ) -> FilePlaceSource {
        let zone = SystemTimeZone(link: link, database: database)
        return FilePlaceSource("time-zone", .timezone, .country, watching: link, clock: clock) {
            FixedPlace(
                coordinate: try zone.city(), altitude: nil, horizontalAccuracy: AccuracyLevel.country.coarseRadius)
        }
    }

    package var availableLevel: AccuracyLevel { place == nil ? .none : level }

    /// Reads the file, and again whenever it changes, whether or not anybody asks: it decides what can be had.
    package func discover() {
        guard watch == nil else { return }
        let reading = PacedJob(clock: clock) { [weak self] in self?.readAgain() }
        watch = PathWatch(path) { reading.request() }
        reading.request()
    }

    package func run(for demand: Demand?) {
        let wasWanted = isWanted
        isWanted = demand != nil
        if isWanted, !wasWanted { tell() }
    }

    private func readAgain() {
        let before = place
        do {
            place = try read()
            lastTrouble = nil
        } catch {
            place = nil
            let trouble = "\(error)"
            if trouble != lastTrouble { Log.notice("\(name): \(path): \(trouble)") }
            lastTrouble = trouble
        }
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
