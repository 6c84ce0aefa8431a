import Geolocation

/// How often which application was let in: a count and the finest level for each day, and nothing finer than that.
package struct AccessHistory: Sendable, Equatable {
    /// A day by UTC, counted from the epoch.
    package struct Day: Sendable, Hashable, Comparable {
        package let number: Int64

        package init(number: Int64) { self.number = number }

        package init(of instant: Timestamp) {
            let seconds = instant.seconds
            number = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        }

        /// - Returns: `nil` for what is no day of the years 0 to 9999.
        init?(stored number: Int64) {
            guard (-719_468...2_932_896).contains(number) else { return nil }
            self.number = number
        }

        package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// The uses of one day.
    package struct Uses: Sendable, Equatable {
        package var count: UInt32
        package var finestLevel: AccuracyLevel

        package init(count: UInt32, finestLevel: AccuracyLevel) {
            self.count = count
            self.finestLevel = finestLevel
        }
    }

    package struct Entry: Sendable, Equatable {
        package let userID: UInt32
        package let key: String
        package let day: Day
        package let uses: Uses

        package init(userID: UInt32, key: String, day: Day, uses: Uses) {
            self.userID = userID
            self.key = key
            self.day = day
            self.uses = uses
        }
    }

    /// How many days are kept.
    package static let days: Int64 = 30
    /// How many applications of a user are counted; an unsandboxed program may claim any number of ids.
    package static let maximumApplications = 512

    private var users: [UInt32: [String: [Day: Uses]]] = [:]

    package init(_ entries: [Entry] = []) {
        for entry in entries { users[entry.userID, default: [:]][entry.key, default: [:]][entry.day] = entry.uses }
    }

    /// The days on which an application was let in.
    package func days(of userID: UInt32, _ key: String) -> [Day: Uses] { users[userID]?[key] ?? [:] }

    /// The applications of a user that were let in, in no order.
    package func keys(of userID: UInt32) -> [String] { users[userID].map { Array($0.keys) } ?? [] }

    /// Everything, in no order.
    var entries: [Entry] {
        users.flatMap { userID, keys in
            keys.flatMap { key, days in
                days.map { Entry(userID: userID, key: key, day: $0, uses: $1) }
            }
        }
    }

    /// Counts one use.
    ///
    /// - Returns: the day as it is now; `nil` where no further application of the user is counted.
    package mutating func note(_ level: AccuracyLevel, by key: String, of userID: UInt32, on day: Day) -> Entry? {
        guard users[userID]?[key] != nil || users[userID]?.count ?? 0 < Self.maximumApplications else { return nil }
        var uses = users[userID]?[key]?[day] ?? Uses(count: 0, finestLevel: level)
        uses.count = uses.count == .max ? .max : uses.count + 1
        uses.finestLevel = max(uses.finestLevel, level)
        users[userID, default: [:]][key, default: [:]][day] = uses
        return Entry(userID: userID, key: key, day: day, uses: uses)
    }

    package mutating func forget(_ key: String, of userID: UInt32) {
        users[userID]?[key] = nil
        if users[userID]?.isEmpty == true { users[userID] = nil }
    }

    /// Forgets all days but `kept`.
    ///
    /// - Returns: whether there were any.
    package mutating func forget(outside kept: ClosedRange<Day>) -> Bool {
        var isChanged = false
        for (userID, keys) in users {
            for (key, days) in keys {
                let rest = days.filter { kept.contains($0.key) }
                guard rest.count < days.count else { continue }
                isChanged = true
                if rest.isEmpty { forget(key, of: userID) } else { users[userID]?[key] = rest }
            }
        }
        return isChanged
    }
}

extension AccessHistory.Day: CustomStringConvertible {
    /// `2026-06-01`.
    package var description: String {
        let (year, month, day) = civil
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// The date in the Gregorian calendar, counted in its cycles of 400 years from the first of March of the year 0.
    private var civil: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
