import EventLoop
import Geolocation
import Glibc
import Positioning

/// The principal city of the system's time zone: a place without any network, as good as the country.
///
/// A zone may be as large as China, and its table says nothing of that. So its fix claims what a country is taken for on
/// the accuracy scale and no more, in its radius as in its level.
@ServiceActor
package final class TimeZoneSource: LocationSource {
    package nonisolated let name = "time-zone"
    package nonisolated let kind = Fix.Kind.timezone
    package var report: (@ServiceActor (SourceReport) -> Void)?

    private let link: String
    private let database: String
    private let clock: any Clock

    private var place: Coordinate?
    private var isWanted = false
    private var watch: PathWatch?
    private var lastTrouble: Trouble?

    /// Why there is no place.
    private enum Trouble: Error, Equatable {
        /// The link cannot be read, or is none.
        case noLink
        /// The link leads to no zone of a database.
        case noZone
        /// None of the tables can be read.
        case noTable
        /// The tables have no place for it: `UTC`, `Etc/GMT+5`.
        case noPlace
    }

    /// - Parameters:
    ///   - link: what leads to the zone's file (localtime(5)).
    ///   - database: the folder with the zone tables.
    package init(link: String = "/etc/localtime", database: String = "/usr/share/zoneinfo", clock: any Clock) {
        self.link = link
        self.database = database
        self.clock = clock
    }

    package var availableLevel: AccuracyLevel { place == nil ? .none : .country }

    /// Reads the zone, and again whenever it changes, whether or not anybody asks: it decides what can be had.
    package func discover() {
        guard watch == nil else { return }
        let reading = PacedJob(clock: clock) { [weak self] in self?.readZone() }
        watch = PathWatch(link) { reading.request() }
        reading.request()
    }

    package func run(for demand: Demand?) {
        let wasWanted = isWanted
        isWanted = demand != nil
        if isWanted, !wasWanted { tell() }
    }

    private func readZone() {
        let before = place
        do throws(Trouble) {
            place = try find()
            lastTrouble = nil
        } catch {
            place = nil
            if error != lastTrouble { Log.notice("\(name): \(description(of: error))") }
            lastTrouble = error
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

    private func find() throws(Trouble) -> Coordinate {
        let zone = try zone()
        // The first has one zone for all places whose clocks agree since 1970, the second one for each country.
        let tables = ["zone1970.tab", "zone.tab"].compactMap { read($0) }
        guard !tables.isEmpty else { throw .noTable }
        func place(of zone: String) -> Coordinate? {
            tables.lazy.compactMap { ZoneTable.place(of: zone, in: $0) }.first
        }
        if let place = place(of: zone) { return place }
        if let target = read("tzdata.zi").flatMap({ ZoneTable.zone(behind: zone, in: $0) }),
            let place = place(of: target)
        {
            return place
        }
        throw .noPlace
    }

    private func read(_ file: String) -> [UInt8]? {
        try? FileContents.read("\(database)/\(file)", limit: ZoneTable.sizeLimit)
    }

    /// What follows the database in the link: `Europe/Berlin`.
    private func zone() throws(Trouble) -> String {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &target, target.count)
        guard count > 0 else { throw .noLink }
        let parts = target.prefix(count).map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: "/"))
        guard let folder = parts.lastIndex(where: { $0.elementsEqual("zoneinfo".utf8) }) else { throw .noZone }
        // Two further trees hold the same zones with another count of seconds.
        let zone = parts[(folder + 1)...].drop { $0.elementsEqual("posix".utf8) || $0.elementsEqual("right".utf8) }
        guard !zone.isEmpty else { throw .noZone }
        return zone.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }

    private func description(of trouble: Trouble) -> String {
        switch trouble {
        case .noLink: "\(link) is no link to a time zone"
        case .noZone: "\(link) leads to no time zone of a database"
        case .noTable: "\(database) has neither zone1970.tab nor zone.tab"
        case .noPlace: "the system's time zone is nowhere by the tables in \(database)"
        }
    }

    private func tell() {
        guard isWanted, let place else { return }
        report?(
            .fix(
                Fix(
                    coordinate: place, horizontalAccuracy: AccuracyLevel.country.coarseRadius,
                    timestamp: Timestamp(microseconds: clock.wallTime), measuredAt: clock.now, kind: kind, source: name)
            ))
    }
}
