import EventLoop
import Geolocation
import Glibc

/// Where the machine's time zone is.
struct SystemTimeZone: Sendable {
    let link: String
    let database: String

    /// Why there is no place.
    enum Trouble: Error {
        /// The link cannot be read, or is none.
        case noLink
        /// The link leads to no zone of a database.
        case noZone
        /// None of the tables can be read.
        case noTable(in: String)
        /// The tables have no place for it: `UTC`, `Etc/GMT+5`.
        case noPlace(in: String)
    }

    /// The zone's principal city.
    func city() throws(Trouble) -> Coordinate {
        let zone = try name()
        // The first has one zone for all places whose clocks agree since 1970, the second one for each country.
        let tables = ["zone1970.tab", "zone.tab"].compactMap { read($0) }
        guard !tables.isEmpty else { throw .noTable(in: database) }
        func place(of zone: String) -> Coordinate? {
            tables.lazy.compactMap { ZoneTable.place(of: zone, in: $0) }.first
        }
        if let place = place(of: zone) { return place }
        if let target = read("tzdata.zi").flatMap({ ZoneTable.zone(behind: zone, in: $0) }),
            let place = place(of: target)
        {
            return place
        }
        throw .noPlace(in: database)
    }

    private func read(_ file: String) -> [UInt8]? {
        try? FileContents.read("\(database)/\(file)", limit: ZoneTable.sizeLimit)
    }

    /// What follows the database in the link: `Europe/Berlin`.
    private func name() throws(Trouble) -> String {
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
}

extension SystemTimeZone.Trouble: CustomStringConvertible {
    var description: String {
        switch self {
        case .noLink: "no link to a time zone"
        case .noZone: "leads to no time zone of a database"
        case .noTable(let database): "\(database) has neither zone1970.tab nor zone.tab"
        case .noPlace(let database): "the system's time zone is nowhere by the tables in \(database)"
        }
    }
}
