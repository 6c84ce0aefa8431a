import Geolocation
import Positioning

/// When the next scan is worth its power: often while what is heard changes, seldom while it stays the same, and never
/// for those who need no more than the city.
package struct ScanPolicy: Sendable, Equatable {
    /// A scan younger than this serves, whoever asked for it.
    package static let shortest = Duration.seconds(10)
    /// The interval doubles up to this one while nothing changes …
    static let longestMoving = Duration.seconds(60)
    /// … and then becomes this.
    static let still = Duration.seconds(300)
    /// Somebody who wants updates seldom still gets one that is at most this old when it is due.
    static let longestFloor = Duration.seconds(600)
    /// Two sets whose common part is less than this of both together are of two places.
    static let leastSimilarity = 0.7

    /// Whether what is heard changes, or the places found do.
    package private(set) var isMoving = false

    /// Counts the places that were told apart.
    package private(set) var place = 0

    /// What was heard at the place that counts as the present one, so that a slow change is noticed too.
    private var reference: Set<UInt64>?
    private var interval = Self.shortest
    /// When the interval became what it is.
    private var intervalBegin = Duration.zero
    private var lastScan: Duration?
    private var lastRequest: Duration?

    package init() {}

    /// Notes what was heard.
    ///
    /// - Parameter moment: when the last scan ended, whoever asked for it; `nil` if there was none yet.
    /// - Returns: whether it is another place than before, or the first.
    package mutating func heard(_ addresses: Set<UInt64>, at moment: Duration?) -> Bool {
        let isNew = (moment ?? .zero) > (lastScan ?? .zero)
        if let moment, isNew { lastScan = moment }
        if let reference, Self.similarity(reference, addresses) >= Self.leastSimilarity {
            if let moment, isNew { stayed(until: moment) }
            return false
        }
        if reference?.isEmpty == false { isMoving = true }
        reference = addresses
        place += 1
        interval = Self.shortest
        intervalBegin = moment ?? intervalBegin
        return true
    }

    /// The interval grows when nothing has changed for as long as it is, however many scans others make.
    private mutating func stayed(until moment: Duration) {
        isMoving = false
        guard moment - intervalBegin >= interval else { return }
        intervalBegin = moment
        widen()
    }

    /// Notes that a place was found which is another one than the place before.
    package mutating func moved() {
        isMoving = true
        interval = Self.shortest
    }

    /// Notes that a scan was asked for. One that never came makes the next one wait longer.
    package mutating func requested(at now: Duration) {
        if let lastRequest, lastScan ?? .zero < lastRequest { widen() }
        lastRequest = now
    }

    /// Begins anew with the shortest interval: somebody wants to know who did not before, or the network has changed.
    package mutating func restart() { interval = Self.shortest }

    /// The moment at which the next scan is to be asked for; `nil` for never.
    package func nextScan(for demand: Demand) -> Duration? {
        guard demand.level > .city else { return nil }
        let floor = min(.seconds(Int64(demand.minimumInterval)), Self.longestFloor)
        return max(
            lastScan.map { $0 + interval } ?? .zero,
            lastRequest.map { $0 + max(interval, floor) } ?? .zero)
    }

    private mutating func widen() {
        interval = interval < Self.longestMoving ? min(interval * 2, Self.longestMoving) : Self.still
    }

    /// Jaccard's index: the common part of two sets.
    private static func similarity(_ one: Set<UInt64>, _ other: Set<UInt64>) -> Double {
        let union = one.union(other).count
        return union == 0 ? 1 : Double(one.intersection(other).count) / Double(union)
    }
}
