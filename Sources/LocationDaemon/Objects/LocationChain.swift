import Authorization
import DBus
import GeoClueAPI

/// The locations that a client was given, oldest first, as long as they can be read.
///
/// The current and the previous one stay; an older one goes five seconds after it was the previous one, since the
/// application may still be reading it.
struct LocationChain {
    struct Entry {
        let number: UInt64
        var fix: DisclosedFix
        /// When it goes, on the monotonic clock. `nil` for the current and the previous one.
        var expiry: Duration?
    }

    private let client: ObjectPath
    private var entries: [Entry] = []
    private var next: UInt64 = 0

    /// The path of the current location; the root before the first.
    private(set) var path = ObjectPath.root

    init(client: ObjectPath) { self.client = client }

    var isEmpty: Bool { entries.isEmpty }

    var current: DisclosedFix? { entries.last?.fix }

    subscript(number: UInt64) -> DisclosedFix? { entries.last { $0.number == number }?.fix }

    var numbers: [UInt64] { entries.map(\.number) }

    /// - Returns: whether an older location has got an expiry.
    mutating func append(_ fix: DisclosedFix, now: Duration) -> Bool {
        let previous = entries.count - 2
        let isReplacing = previous >= 0
        if isReplacing { entries[previous].expiry = now + Limits.locationLifetime }
        entries.append(Entry(number: next, fix: fix))
        if entries.count > Limits.locationsPerClient { entries.removeFirst() }
        path = GeoClueNames.locationPath(next, of: client)
        next += 1
        return isReplacing
    }

    /// Gives the current location another content, on the same path.
    mutating func refresh(_ fix: DisclosedFix) {
        if !entries.isEmpty { entries[entries.count - 1].fix = fix }
    }

    /// - Returns: when the next location goes.
    mutating func prune(now: Duration) -> Duration? {
        let kept = entries.firstIndex { $0.expiry.map { $0 > now } ?? true } ?? entries.endIndex
        entries.removeFirst(kept)
        return entries.first?.expiry
    }

    /// Makes every location unreadable. The path of the current one stays, as the beginning of the next update.
    mutating func withdraw() { entries.removeAll() }
}
