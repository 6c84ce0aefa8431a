import DBus

/// The entries of an `a{sv}` argument, taken one by one. What is left over in the end was no key of the method.
struct Entries {
    /// Why an entry is refused.
    enum Fault: Error, Equatable {
        case unknownKey(String)
        case wrongType(key: String, wanted: String)
        case badValue(key: String, problem: String)
        case missingKey(String)
    }

    private var entries: [String: Variant]

    init(_ entries: [String: Variant]) { self.entries = entries }

    mutating func string(_ key: String) throws(Fault) -> String? {
        guard let value = entries.removeValue(forKey: key)?.value else { return nil }
        guard case .string(let text) = value else { throw .wrongType(key: key, wanted: "a string") }
        return text
    }

    mutating func flag(_ key: String) throws(Fault) -> Bool? {
        guard let value = entries.removeValue(forKey: key)?.value else { return nil }
        guard case .bool(let flag) = value else { throw .wrongType(key: key, wanted: "a boolean") }
        return flag
    }

    /// A whole number, of whatever numeric type: command lines write what they like.
    mutating func number<T: FixedWidthInteger>(_ key: String) throws(Fault) -> T? {
        guard let value = entries.removeValue(forKey: key)?.value else { return nil }
        let number: T?
        switch value {
        case .byte(let found): number = T(exactly: found)
        case .int16(let found): number = T(exactly: found)
        case .uint16(let found): number = T(exactly: found)
        case .int32(let found): number = T(exactly: found)
        case .uint32(let found): number = T(exactly: found)
        case .int64(let found): number = T(exactly: found)
        case .uint64(let found): number = T(exactly: found)
        case .double(let found): number = T(exactly: found)
        default: throw .wrongType(key: key, wanted: "a number")
        }
        guard let number else { throw .badValue(key: key, problem: "is out of range") }
        return number
    }

    /// One of the words that an enumeration has.
    mutating func word<T: RawRepresentable & CaseIterable>(_ key: String) throws(Fault) -> T?
    where T.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let word = T(rawValue: text) else {
            throw .badValue(key: key, problem: "is none of " + T.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    /// - Throws: ``Fault/unknownKey(_:)`` for whatever was not taken.
    func finish() throws(Fault) {
        if let key = entries.keys.min() { throw .unknownKey(key) }
    }
}

extension Entries.Fault: BusErrorConvertible {
    var busError: BusError {
        switch self {
        case .unknownKey(let key): .invalidArguments("there is no key “\(key)” here")
        case .wrongType(let key, let wanted): .invalidArguments("“\(key)” has to be \(wanted)")
        case .badValue(let key, let problem): .invalidArguments("“\(key)” \(problem)")
        case .missingKey(let key): .invalidArguments("“\(key)” is missing")
        }
    }
}
