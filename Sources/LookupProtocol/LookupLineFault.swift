import JSON

/// What is wrong with a line, or with what was to become one. Names members, never what is in them.
package enum LookupLineFault: Error, Equatable, Sendable {
    case tooLong(limit: Int)
    case notJSON
    case notAnObject
    /// `nil` where the line names none.
    case unknownVersion(Int64?)
    case missing(String)
    case unexpected
    /// The member has another type, is out of range, too long, or holds characters that it must not.
    case invalid(String)
}

extension LookupLineFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .notJSON: "not JSON"
        case .notAnObject: "no object"
        case .unknownVersion(let version): version.map { "version \($0) is unknown" } ?? "no version"
        case .missing(let member): "“\(member)” is missing"
        case .unexpected: "a member that is not known"
        case .invalid(let member): "“\(member)” is not valid"
        }
    }
}
