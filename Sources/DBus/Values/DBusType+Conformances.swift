internal import CDBus
import EventLoop

// Each basic type with its code (D-Bus specification, “Summary of types”).

extension UInt8: DBusBasicType {
    package static let signature = Signature(trusted: "y")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> UInt8 {
        try reader.readBasic(signature).byt
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(byt: self))
    }
}

extension Bool: DBusBasicType {
    package static let signature = Signature(trusted: "b")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Bool {
        try reader.readBasic(signature).bool_val != 0
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(bool_val: self ? 1 : 0))
    }
}

extension Int16: DBusBasicType {
    package static let signature = Signature(trusted: "n")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Int16 {
        try reader.readBasic(signature).i16
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(i16: self))
    }
}

extension UInt16: DBusBasicType {
    package static let signature = Signature(trusted: "q")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> UInt16 {
        try reader.readBasic(signature).u16
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(u16: self))
    }
}

extension Int32: DBusBasicType {
    package static let signature = Signature(trusted: "i")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Int32 {
        try reader.readBasic(signature).i32
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(i32: self))
    }
}

extension UInt32: DBusBasicType {
    package static let signature = Signature(trusted: "u")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> UInt32 {
        try reader.readBasic(signature).u32
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(u32: self))
    }
}

extension Int64: DBusBasicType {
    package static let signature = Signature(trusted: "x")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Int64 {
        Int64(try reader.readBasic(signature).i64)
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(i64: dbus_int64_t(self)))
    }
}

extension UInt64: DBusBasicType {
    package static let signature = Signature(trusted: "t")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> UInt64 {
        UInt64(try reader.readBasic(signature).u64)
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(u64: dbus_uint64_t(self)))
    }
}

extension Double: DBusBasicType {
    package static let signature = Signature(trusted: "d")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Double {
        try reader.readBasic(signature).dbl
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeBasic(Self.signature, DBusBasicValue(dbl: self))
    }
}

extension String: DBusBasicType {
    package static let signature = Signature(trusted: "s")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> String {
        try reader.readString(signature)
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeString(Self.signature, self)
    }
}

extension ObjectPath: DBusBasicType {
    package static let signature = Signature(trusted: "o")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> ObjectPath {
        ObjectPath(trusted: try reader.readString(signature))
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeString(Self.signature, string)
    }
}

extension Signature: DBusBasicType {
    package static let signature = Signature(trusted: "g")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Signature {
        Signature(trusted: try reader.readString(signature))
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeString(Self.signature, string)
    }
}

extension UnixFD: DBusType {
    package static let signature = Signature(trusted: "h")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> UnixFD {
        // libdbus hands out a duplicate, or -1.
        let descriptor = FileDescriptor(adopting: try reader.readBasic(signature).fd)
        guard descriptor.raw >= 0 else { throw .missingDescriptor }
        return UnixFD(descriptor)
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeDescriptor(descriptor)
    }
}

extension Variant: DBusType {
    package static let signature = Signature(trusted: "v")
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Variant {
        var contents = try reader.enter(signature)
        return Variant(try contents.readValue())
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeVariant(value)
    }
}

extension Array: DBusType where Element: DBusType {
    package static var signature: Signature { Signature(trusted: "a" + Element.signature.string) }
    package static func read(from reader: inout MessageReader) throws(ReadError) -> [Element] {
        var contents = try reader.enter(signature)
        var elements: [Element] = []
        while contents.hasMore { elements.append(try Element.read(from: &contents)) }
        return elements
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeContainer("a", Element.signature) { contents throws(WriteError) in
            for element in self { try element.write(to: contents) }
        }
    }
}

extension Dictionary: DBusType where Key: DBusBasicType, Value: DBusType {
    package static var signature: Signature {
        Signature(trusted: "a{" + Key.signature.string + Value.signature.string + "}")
    }
    package static func read(from reader: inout MessageReader) throws(ReadError) -> [Key: Value] {
        var contents = try reader.enter(signature)
        var entries: [Key: Value] = [:]
        while contents.hasMore {
            var entry = try contents.enterEntry()
            let key = try Key.read(from: &entry)
            entries[key] = try Value.read(from: &entry)
        }
        return entries
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        let entryType = Signature(trusted: "{" + Key.signature.string + Value.signature.string + "}")
        try writer.writeContainer("a", entryType) { contents throws(WriteError) in
            for (key, value) in self {
                try contents.writeContainer("e") { entry throws(WriteError) in
                    try key.write(to: entry)
                    try value.write(to: entry)
                }
            }
        }
    }
}

extension Structure: DBusType {
    package static var signature: Signature {
        var text = "("
        repeat text += (each Field).signature.string
        return Signature(trusted: text + ")")
    }
    package static func read(from reader: inout MessageReader) throws(ReadError) -> Self {
        var contents = try reader.enter(signature)
        return Structure(repeat try (each Field).read(from: &contents))
    }
    package func write(to writer: borrowing MessageWriter) throws(WriteError) {
        try writer.writeContainer("r") { contents throws(WriteError) in
            for field in repeat each fields { try field.write(to: contents) }
        }
    }
}
