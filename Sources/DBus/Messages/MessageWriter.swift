internal import CDBus
import EventLoop
import Glibc

/// Appends values to the body of a message.
///
/// Not copyable, because libdbus keeps the state of an open container in the iterator itself.
package struct MessageWriter: ~Copyable {
    /// Containers inside one another (D-Bus specification, “Valid Signatures”: 32 arrays and 32 structures).
    package static let depthLimit = 64
    /// Bytes of a body. The stock system bus passes on 32 MiB, and throws out whoever sends it more.
    package static let sizeLimit = 16 << 20
    /// Descriptors in a message, as on the stock system bus.
    package static let descriptorLimit = 16

    private let message: Message
    private let depth: Int
    private let iterator: UnsafeMutablePointer<DBusMessageIter>

    init(appendingTo message: Message) {
        self.message = message
        depth = 0
        iterator = .allocate(capacity: 1)
        iterator.initialize(to: DBusMessageIter())
        dbus_message_iter_init_append(message.pointer, iterator)
    }

    private init(inside parent: borrowing MessageWriter) {
        message = parent.message
        depth = parent.depth + 1
        iterator = .allocate(capacity: 1)
        iterator.initialize(to: DBusMessageIter())
    }

    deinit { iterator.deallocate() }

    // MARK: Typed values

    func writeBasic(_ type: Signature, _ value: DBusBasicValue) throws(WriteError) {
        var value = value
        try account(8)
        guard dbus_message_iter_append_basic(iterator, type.code, &value) != 0 else { throw .tooLarge }
    }

    func writeString(_ type: Signature, _ text: String) throws(WriteError) {
        let length = text.utf8.count
        try account(length + 8)
        let isWritten: Bool? = text.withCString { pointer in
            guard strlen(pointer) == length else { return nil }
            var value = DBusBasicValue(str: UnsafeMutablePointer(mutating: pointer))
            return dbus_message_iter_append_basic(iterator, type.code, &value) != 0
        }
        guard let isWritten else { throw .embeddedNUL }
        guard isWritten else { throw .tooLarge }
    }

    func writeVariant(_ value: Value) throws(WriteError) {
        try value.expectSingleType()
        try writeContainer("v", value.signature) { contents throws(WriteError) in try contents.writeValue(value) }
    }

    /// Opens a container, lets `body` fill it, and closes it; where `body` throws, gives it up.
    ///
    /// - Parameters:
    ///   - code: `a` array, `v` variant, `r` structure, `e` dictionary entry.
    ///   - contents: the element type of an array, the type of a variant.
    func writeContainer(
        _ code: Unicode.Scalar, _ contents: Signature? = nil,
        _ body: (borrowing MessageWriter) throws(WriteError) -> Void
    ) throws(WriteError) {
        guard depth < Self.depthLimit else { throw .tooLarge }
        // Its own length or signature, and the padding.
        try account(16 + (contents?.string.utf8.count ?? 0))
        let inner = MessageWriter(inside: self)
        let isOpen =
            dbus_message_iter_open_container(iterator, Int32(code.value), contents?.string, inner.iterator) != 0
        guard isOpen else { throw .tooLarge }
        do {
            try body(inner)
        } catch {
            dbus_message_iter_abandon_container(iterator, inner.iterator)
            throw error
        }
        guard dbus_message_iter_close_container(iterator, inner.iterator) != 0 else { throw .tooLarge }
    }

    func writeDescriptor(_ descriptor: FileDescriptor) throws(WriteError) {
        message.writtenDescriptors += 1
        guard message.writtenDescriptors <= Self.descriptorLimit else { throw .tooLarge }
        try writeBasic(UnixFD.signature, DBusBasicValue(fd: descriptor.raw))
    }

    private func account(_ size: Int) throws(WriteError) {
        message.writtenSize += size
        guard message.writtenSize <= Self.sizeLimit else { throw .tooLarge }
    }

    // MARK: Any value

    /// Writes a value, and checks that what it holds is what it says.
    func writeValue(_ value: Value) throws(WriteError) {
        switch value {
        case .byte(let value): try value.write(to: self)
        case .bool(let value): try value.write(to: self)
        case .int16(let value): try value.write(to: self)
        case .uint16(let value): try value.write(to: self)
        case .int32(let value): try value.write(to: self)
        case .uint32(let value): try value.write(to: self)
        case .int64(let value): try value.write(to: self)
        case .uint64(let value): try value.write(to: self)
        case .double(let value): try value.write(to: self)
        case .string(let value): try value.write(to: self)
        case .objectPath(let value): try value.write(to: self)
        case .signature(let value): try value.write(to: self)
        case .unixFD(let value): try value.write(to: self)
        case .variant(let value): try writeVariant(value)
        case .structure(let fields):
            try writeContainer("r") { contents throws(WriteError) in
                for field in fields { try contents.writeValue(field) }
            }
        case .array(let type, let elements):
            try value.expectSingleType()
            try writeContainer("a", type) { contents throws(WriteError) in
                for element in elements {
                    try element.expect(type)
                    try contents.writeValue(element)
                }
            }
        case .dictionary(let key, let type, let entries):
            try value.expectSingleType()
            let entryType = Signature(trusted: "{" + key.string + type.string + "}")
            try writeContainer("a", entryType) { contents throws(WriteError) in
                for entry in entries {
                    try entry.key.expect(key)
                    try entry.value.expect(type)
                    try contents.writeContainer("e") { inside throws(WriteError) in
                        try inside.writeValue(entry.key)
                        try inside.writeValue(entry.value)
                    }
                }
            }
        }
    }
}

extension Value {
    /// Throws where the value's stated types do not make one. Two that are malformed may look well-formed side by side.
    func expectSingleType() throws(WriteError) {
        let type = signature
        guard type.isSingleType else { throw .unfittingType(expected: Variant.signature, found: type) }
    }

    fileprivate func expect(_ type: Signature) throws(WriteError) {
        guard signature == type else { throw .unfittingType(expected: type, found: signature) }
    }
}

extension Signature {
    /// The code of a basic type.
    fileprivate var code: Int32 { Int32(string.utf8.first ?? 0) }
}
