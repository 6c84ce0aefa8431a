internal import CDBus
import EventLoop
import Glibc

/// Walks the values of a message, checking the type of each before it is taken.
package struct MessageReader {
    private let message: Message
    private var iterator = DBusMessageIter()

    /// What one message's values may take in memory, in bytes. A bus lets through messages of 32 MiB and more.
    package static let sizeLimit = 16 << 20

    /// What a value takes beside the text it holds.
    private static let valueSize = MemoryLayout<Value>.stride

    package init(_ message: Message, sizeLimit: Int = Self.sizeLimit) {
        self.message = message
        message.readingBudget = sizeLimit
        dbus_message_iter_init(message.pointer, &iterator)
    }

    private init(inside parent: inout MessageReader) {
        message = parent.message
        dbus_message_iter_recurse(&parent.iterator, &iterator)
    }

    package var hasMore: Bool { mutating get { code != 0 } }

    private var code: UInt8 { mutating get { UInt8(dbus_message_iter_get_arg_type(&iterator)) } }

    private var nextSignature: Signature {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else { return .empty }
            defer { dbus_free(text) }
            return Signature(trusted: String(cString: text))
        }
    }

    // MARK: Typed values

    mutating func readBasic(_ expected: Signature) throws(ReadError) -> DBusBasicValue {
        guard code == expected.string.utf8.first else { throw mismatch(expected) }
        return try takeBasic()
    }

    mutating func readString(_ expected: Signature) throws(ReadError) -> String {
        // libdbus has checked that the text is UTF-8 and, for paths and signatures, well-formed.
        let text = try readBasic(expected).str!
        try spend(strlen(text))
        return String(cString: text)
    }

    /// Enters the array, structure or variant that comes next, and moves past it.
    mutating func enter(_ expected: Signature) throws(ReadError) -> MessageReader {
        // A variant's signature is `v` whatever it contains; other containers are known by the whole signature.
        guard expected.string == "v" ? code == UInt8(ascii: "v") : nextSignature == expected else {
            throw mismatch(expected)
        }
        return try enterNext()
    }

    /// Enters the dictionary entry that comes next. Only inside an array that has been entered as a dictionary.
    mutating func enterEntry() throws(ReadError) -> MessageReader { try enterNext() }

    private mutating func enterNext() throws(ReadError) -> MessageReader {
        try spend(Self.valueSize)
        let contents = MessageReader(inside: &self)
        dbus_message_iter_next(&iterator)
        return contents
    }

    private mutating func takeBasic() throws(ReadError) -> DBusBasicValue {
        try spend(Self.valueSize)
        var value = DBusBasicValue()
        dbus_message_iter_get_basic(&iterator, &value)
        dbus_message_iter_next(&iterator)
        return value
    }

    private func spend(_ size: Int) throws(ReadError) {
        message.readingBudget -= size
        guard message.readingBudget >= 0 else { throw .tooLarge }
    }

    private mutating func mismatch(_ expected: Signature) -> ReadError {
        .unexpectedType(expected: expected, found: nextSignature)
    }

    // MARK: Any value

    /// Takes the next value, whatever its type. libdbus bounds the nesting of what it delivers (64 levels).
    package mutating func readValue() throws(ReadError) -> Value {
        switch code {
        case UInt8(ascii: "y"): .byte(try takeBasic().byt)
        case UInt8(ascii: "b"): .bool(try takeBasic().bool_val != 0)
        case UInt8(ascii: "n"): .int16(try takeBasic().i16)
        case UInt8(ascii: "q"): .uint16(try takeBasic().u16)
        case UInt8(ascii: "i"): .int32(try takeBasic().i32)
        case UInt8(ascii: "u"): .uint32(try takeBasic().u32)
        case UInt8(ascii: "x"): .int64(Int64(try takeBasic().i64))
        case UInt8(ascii: "t"): .uint64(UInt64(try takeBasic().u64))
        case UInt8(ascii: "d"): .double(try takeBasic().dbl)
        case UInt8(ascii: "s"): .string(try String.read(from: &self))
        case UInt8(ascii: "o"): .objectPath(try ObjectPath.read(from: &self))
        case UInt8(ascii: "g"): .signature(try Signature.read(from: &self))
        case UInt8(ascii: "h"): .unixFD(try UnixFD.read(from: &self))
        case UInt8(ascii: "v"): .variant(try Variant.read(from: &self).value)
        case UInt8(ascii: "r"): try readStructure()
        case UInt8(ascii: "a"): try readArray()
        default: throw mismatch(Variant.signature)
        }
    }

    private mutating func readStructure() throws(ReadError) -> Value {
        var contents = try enterNext()
        var fields: [Value] = []
        while contents.hasMore { fields.append(try contents.readValue()) }
        return .structure(fields)
    }

    private mutating func readArray() throws(ReadError) -> Value {
        let element = Signature(trusted: String(nextSignature.string.dropFirst()))
        let isDictionary = element.string.utf8.first == UInt8(ascii: "{")
        var contents = try enterNext()
        guard isDictionary else {
            var elements: [Value] = []
            while contents.hasMore { elements.append(try contents.readValue()) }
            return .array(of: element, elements)
        }
        let types = Signature(trusted: String(element.string.dropFirst().dropLast())).completeTypes
        var entries: [Value.Entry] = []
        while contents.hasMore {
            var entry = try contents.enterEntry()
            entries.append(Value.Entry(key: try entry.readValue(), value: try entry.readValue()))
        }
        return .dictionary(key: types[0], value: types[1], entries)
    }
}
