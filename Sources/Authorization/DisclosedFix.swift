import Geolocation

/// A fix that may leave the process. Only a ``Grant`` makes one.
package struct DisclosedFix: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// A fix as it was found, with all that is known: the fine one, or one that is coarse by kind.
        case full(Fix)
        /// A cell of the public grid, with nothing of the fix that fell into it.
        case reduced(CoarseFix)
    }

    package let content: Content

    fileprivate init(_ content: Content) { self.content = content }
}

extension Grant {
    /// What of `position` the holder of this grant may learn.
    ///
    /// - Returns: `nil` if there is nothing for its level; a finer one never stands in.
    package func disclose(_ position: Position) -> DisclosedFix? {
        switch level {
        case .exact:
            return position.fine.map { DisclosedFix(.full($0)) }
        case .country, .city, .neighborhood, .street:
            switch position.coarse[level] {
            case .cell(let cell): return DisclosedFix(.reduced(cell))
            case .asFound(let fix): return DisclosedFix(.full(fix))
            case nil: return nil
            }
        case .none:
            return nil
        }
    }
}
