import JSON

/// The members of one line, each to be taken once.
struct LineMembers {
    /// Of the format. Another one may mean anything, so it is refused before all else.
    static let version: Int64 = 1

    private var rest: [String: JSONValue]

    init(_ line: [UInt8], limit: Int) throws(LookupLineFault) {
        guard line.count <= limit else { throw .tooLong(limit: limit) }
        guard let value = try? JSONValue(parsing: line[...], limits: .init(bytes: limit, depth: 1)) else {
            throw .notJSON
        }
        guard let members = value.object else { throw .notAnObject }
        rest = members
        let version = rest.removeValue(forKey: "version")?.integer
        guard version == Self.version else { throw .unknownVersion(version) }
    }

    mutating func take(_ name: String) throws(LookupLineFault) -> JSONValue {
        guard let value = rest.removeValue(forKey: name) else { throw .missing(name) }
        return value
    }

    /// `nil` where it is not there.
    mutating func takeNumber<Number: FixedWidthInteger>(
        _ name: String, in range: ClosedRange<Number>
    ) throws(LookupLineFault) -> Number? {
        guard let value = rest.removeValue(forKey: name) else { return nil }
        guard let integer = value.integer, let number = Number(exactly: integer), range.contains(number) else {
            throw .invalid(name)
        }
        return number
    }

    mutating func takeText(_ name: String) throws(LookupLineFault) -> String {
        guard let text = try take(name).string else { throw .invalid(name) }
        return text
    }

    mutating func takeID() throws(LookupLineFault) -> UInt32 {
        guard let id = try takeNumber("id", in: UInt32.min...UInt32.max) else { throw .missing("id") }
        return id
    }

    func contains(_ name: String) -> Bool { rest[name] != nil }

    /// To be called when all that may be there has been taken.
    func end() throws(LookupLineFault) {
        guard rest.isEmpty else { throw .unexpected }
    }

    /// A line of `members`, the id and the version, with its end.
    static func line(
        _ id: UInt32, _ members: [String: JSONValue], limit: Int
    ) throws(LookupLineFault) -> String {
        let all = members.merging(["id": .integer(Int64(id)), "version": .integer(version)]) { $1 }
        // Only numbers that are not finite cannot be written, and there are none.
        guard let text = try? JSONValue.object(all).text() else { throw .notJSON }
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
        return text + "\n"
    }
}

extension String {
    /// Throws where the text is empty, longer than `limit` bytes, or holds anything but visible ASCII and blanks.
    func check(_ name: String, limit: Int) throws(LookupLineFault) {
        guard (1...limit).contains(utf8.count), utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalid(name)
        }
    }
}
