import Glibc

/// Something in the configuration that does not count, and why.
package struct ConfigurationFault: Error, Sendable, Equatable {
    package enum Problem: Error, Sendable, Equatable {
        /// The file cannot be opened or read; the number is `errno`.
        case unreadable(Int32)
        case tooLarge(limit: Int)
        case invalidUTF8
        case containsNUL
        /// A line that is no comment, no header and no `key=value`.
        case notAnEntry
        case badHeader
        /// An entry before the first header.
        case outsideGroup
        case invalidEscape
        case unknownKey
        /// A group that is no section and has no key of an application.
        case unknownGroup
        /// An application's group without a key that GeoClue's format asks for.
        case missingKey(String)
        /// A value that is not of the key's kind; the text says what would be.
        case wrongValue(String, isNot: String)
        /// As ``wrongValue(_:isNot:)``, where the value may hold somebody's access key.
        case wrongAddress(isNot: String)
    }

    package var place: KeyFileDocument.Place
    package var group: String?
    package var key: String?
    package var problem: Problem

    package init(_ problem: Problem, at place: KeyFileDocument.Place, group: String? = nil, key: String? = nil) {
        self.problem = problem
        self.place = place
        self.group = group
        self.key = key
    }
}

extension ConfigurationFault {
    /// Whether a whole file or group may be missing for it, and with it what forbids something.
    package var hidesEntries: Bool {
        switch problem {
        case .unreadable, .tooLarge, .invalidUTF8, .containsNUL, .notAnEntry, .badHeader, .outsideGroup: true
        case .invalidEscape, .unknownKey, .unknownGroup, .missingKey, .wrongValue, .wrongAddress: false
        }
    }

    /// Whether nothing of a file could be taken in.
    package var hidesFile: Bool {
        switch problem {
        case .unreadable, .tooLarge: true
        default: false
        }
    }
}

extension ConfigurationFault: CustomStringConvertible {
    /// `FILE:LINE: [GROUP] KEY: what is wrong`, with as many of them as there are.
    ///
    /// A group may be an application's id: in the log that takes ``logLine``.
    package var description: String { text(group: group) }

    /// As ``description``, without the name of a group that is an application's id.
    package var logLine: String { text(group: group.flatMap { Section(rawValue: $0) == nil ? nil : $0 }) }

    private func text(group: String?) -> String {
        let line = place.line.map { ":\($0)" } ?? ""
        let subject = [group.map { "[\($0)]" }, key].compactMap { $0 }.joined(separator: " ")
        return "\(place.file)\(line): " + (subject.isEmpty ? "" : "\(subject): ") + problem.description
    }
}

extension ConfigurationFault.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
        case .tooLarge(let limit): "is larger than \(limit) bytes and was not read"
        case .invalidUTF8: "is not UTF-8"
        case .containsNUL: "contains a NUL byte"
        case .notAnEntry: "is neither a comment, a [group] nor key=value"
        case .badHeader: "is not the name of a group; the entries below it do not count"
        case .outsideGroup: "stands before the first [group]"
        case .invalidEscape: "contains a backslash that is none of \\s \\n \\t \\r \\\\ (in lists also \\;)"
        case .unknownKey: "no such key"
        case .unknownGroup: "is neither a section nor an application with allowed="
        case .missingKey(let key): "does not say \(key)="
        case .wrongValue(let value, let expected): "“\(value)” is not \(expected)"
        case .wrongAddress(let expected): "is not \(expected)"
        }
    }
}
