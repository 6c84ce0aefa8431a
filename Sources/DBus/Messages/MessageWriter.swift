internal import CDBus

/// Appends values to the body of a message.
///
/// Not copyable, because libdbus keeps the state of an open container in the iterator itself.
package struct MessageWriter: ~Copyable {
    private let message: Message
    private let iterator: UnsafeMutablePointer<DBusMessageIter>

    init(appendingTo message: Message) {
        self.message = message
        iterator = .allocate(capacity: 1)
        iterator.initialize(to: DBusMessageIter())
        dbus_message_iter_init_append(message.pointer, iterator)
    }

    private init(_ message: Message, _ iterator: UnsafeMutablePointer<DBusMessageIter>) {
        self.message = message
        self.iterator = iterator
    }

    deinit { iterator.deallocate() }

    // MARK: Typed values

    func writeBasic(_ type: Signature, _ value: DBusBasicValue) throws(WriteError) {
        var value = value
        guard dbus_message_iter_append_basic(iterator, type.code, &value) != 0 else { throw .tooLarge }
    }

    func writeString(_ type: Signature, _ text: String) throws(WriteError) {
        guard !text.utf8.contains(0) else { throw .embeddedNUL }
        let isWritten = text.withCString { pointer in
            var value = DBusBasicValue(str: UnsafeMutablePointer(mutating: pointer))
            return dbus_message_iter_append_basic(iterator, type.code, &value) != 0
        }
        guard isWritten else { throw .tooLarge }
    }

    func writeVariant(_ value: Value) throws(WriteError) {
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
        if let contents, !(code == "a" ? Signature(trusted: "a" + contents.string) : contents).isSingleType {
            throw .unfittingType(expected: Variant.signature, found: contents)
        }
        let inner = MessageWriter(message, .allocate(capacity: 1))
        inner.iterator.initialize(to: DBusMessageIter())
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

    // MARK: Any value

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
            guard !fields.isEmpty else { throw .unfittingType(expected: Variant.signature, found: value.signature) }
            try writeContainer("r") { contents throws(WriteError) in
                for field in fields { try contents.writeValue(field) }
            }
        case .array(let type, let elements):
            try writeContainer("a", type) { contents throws(WriteError) in
                for element in elements {
                    try element.expect(type)
                    try contents.writeValue(element)
                }
            }
        case .dictionary(let key, let type, let entries):
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
    fileprivate func expect(_ type: Signature) throws(WriteError) {
        guard signature == type else { throw .unfittingType(expected: type, found: signature) }
    }
}

extension Signature {
    /// The code of a basic type.
    fileprivate var code: Int32 { Int32(string.utf8.first ?? 0) }
}
