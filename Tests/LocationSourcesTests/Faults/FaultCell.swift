import Foundation
import Positioning
import Testing

/// What the service finds around itself.
enum Neighbour: String, CaseIterable {
    case gpsd
    case nmeaSocket = "NMEA socket"
    case wpaSupplicant = "wpa_supplicant"
    case networkManager = "NetworkManager"
    case modemManager = "ModemManager"
    case avahi = "Avahi"
    case logind
    case sensorProxy = "sensor proxy"
    case lookupProcess = "lookup process"
    case lookupService = "lookup service"
    case watchedFile = "watched file"
}

enum Fault: String, CaseIterable {
    case absent, hangs, refuses, floods
    case diesMidway = "dies midway"
    case comesLate = "comes late"
}

struct FaultCell: Hashable, Sendable, CustomTestStringConvertible {
    let neighbour: Neighbour
    let fault: Fault

    static let all = Neighbour.allCases.flatMap { neighbour in
        Fault.allCases.map { FaultCell(neighbour: neighbour, fault: $0) }
    }

    var testDescription: String { "\(neighbour.rawValue) \(fault.rawValue)" }
}

/// What `Tests/Faults.md` says of a cell.
struct FaultStatement: Sendable {
    /// The longest time from the end of the fault until what the neighbour gives is there again; `nil` where the fault
    /// does not end.
    let recovery: Duration?
    /// How it goes while the fault lasts, for a client that has this neighbour's source alone.
    let condition: PositioningCondition
}

/// The table in `Tests/Faults.md`.
enum FaultTable {
    struct Unreadable: Error { let line: String }

    /// A statement for each row.
    static func read() throws -> [(cell: FaultCell, statement: FaultStatement)] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Faults.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard columns.count == 5, let neighbour = Neighbour(rawValue: columns[0]) else { return nil }
            guard let fault = Fault(rawValue: columns[1]),
                let condition = PositioningCondition(rawValue: columns[3]),
                let recovery = recovery(columns[2])
            else { throw Unreadable(line: String(line)) }
            return (
                FaultCell(neighbour: neighbour, fault: fault), FaultStatement(recovery: recovery, condition: condition)
            )
        }
    }

    static func statement(for cell: FaultCell) throws -> FaultStatement {
        try #require(read().first { $0.cell == cell }?.statement)
    }

    private static func recovery(_ text: String) -> Duration?? {
        if text == "—" { return .some(nil) }
        if text == "at once" { return .zero }
        guard text.hasSuffix(" s"), let seconds = Int64(text.dropLast(2)) else { return nil }
        return .seconds(seconds)
    }
}
