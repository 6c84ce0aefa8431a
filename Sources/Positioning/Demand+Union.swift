import Geolocation

extension Demand {
    /// What all of several demands together want; `nil` if there are none.
    package static func union(of demands: [Demand]) -> Demand? {
        guard let level = demands.map(\.level).max(), let interval = demands.map(\.minimumInterval).min() else {
            return nil
        }
        return Demand(level: level, minimumInterval: interval)
    }
}
