import EventLoop

/// What is wrong with a file, and where.
package struct RouteFault: Error, Equatable, Sendable {
    package enum Problem: Error, Equatable, Sendable {
        case unreadable(FileContents.Problem)
        /// The parser's own words.
        case notXML(String)
        case notGPX
        /// A document type, which no GPX file has and which only serves to blow up a reader.
        case documentType
        /// A point's latitude or longitude is missing, no number or out of range.
        case badCoordinate
        /// A number that belongs to a point is none, or out of range.
        case badNumber(element: String)
        case badTime
        /// A point lies in time before the one that precedes it.
        case timeGoesBack
        /// Some points have a time, this one does not.
        case timeMissing
        case noPositions
    }

    package let problem: Problem
    package let file: String
    /// Counted from 1. `nil` where the whole file is meant.
    package let line: Int?

    init(_ problem: Problem, file: String, line: Int? = nil) {
        self.problem = problem
        self.file = file
        self.line = line
    }
}

extension RouteFault: CustomStringConvertible {
    package var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(problem)" }
}

extension RouteFault.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let problem): "cannot be read: \(problem)"
        case .notXML(let text): "is not well-formed: \(text)"
        case .notGPX: "is not GPX: its root is another element"
        case .documentType: "declares a document type, which GPX does not have"
        case .badCoordinate: "the point's latitude or longitude is missing or no angle"
        case .badNumber(let element): "<\(element)> is not a possible number"
        case .badTime: "<time> is not a time as GPX writes it (2026-06-01T12:00:00Z)"
        case .timeGoesBack: "the point's time lies before that of the point before it"
        case .timeMissing: "the point has no time, although others have"
        case .noPositions: "there is no position in it"
        }
    }
}
