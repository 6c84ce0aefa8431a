/// Why records cannot be read or written.
package struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: String, Sendable, Hashable {
        case full = "there is no space left"
        case readOnly = "it cannot be written to"
        case locked = "another program has locked it"
        case damaged = "it is damaged"
        case inaccessible = "it cannot be opened"
        case newer = "it was written by a newer version"
        case failed = "reading or writing failed"
    }

    package let reason: Reason
    /// What the library or the system says, without any content.
    package let detail: String

    package var description: String { detail.isEmpty ? reason.rawValue : "\(reason.rawValue) (\(detail))" }
}
