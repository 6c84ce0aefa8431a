import EventLoop

/// Any D-Bus value, for the places whose type is known only at run time: the contents of variants.
package enum Value: Sendable, Equatable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    case unixFD(UnixFD)
    /// Elements of one type, which is stated because there may be none.
    case array(of: Signature, [Value])
    /// Entries in the order of the wire. Keys are of a basic type.
    case dictionary(key: Signature, value: Signature, [Entry])
    case structure([Value])
    indirect case variant(Value)

    package struct Entry: Sendable, Equatable {
        package let key: Value
        package let value: Value

        package init(key: Value, value: Value) {
            self.key = key
            self.value = value
        }
    }

    package var signature: Signature {
        switch self {
        case .byte: UInt8.signature
        case .bool: Bool.signature
        case .int16: Int16.signature
        case .uint16: UInt16.signature
        case .int32: Int32.signature
        case .uint32: UInt32.signature
        case .int64: Int64.signature
        case .uint64: UInt64.signature
        case .double: Double.signature
        case .string: String.signature
        case .objectPath: ObjectPath.signature
        case .signature: Signature.signature
        case .unixFD: UnixFD.signature
        case .array(let element, _): Signature(trusted: "a" + element.string)
        case .dictionary(let key, let value, _): Signature(trusted: "a{" + key.string + value.string + "}")
        case .structure(let fields): Signature(trusted: "(" + fields.map(\.signature.string).joined() + ")")
        case .variant: Variant.signature
        }
    }
}

/// A file descriptor in a message. Received ones are duplicates that close with the last reference.
package struct UnixFD: Sendable, Equatable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    package static func == (left: Self, right: Self) -> Bool { left.descriptor === right.descriptor }
}

/// A value that travels with its type.
package struct Variant: Sendable, Equatable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}

/// A structure, `(tt)`.
package struct Structure<each Field: DBusType>: Sendable {
    package let fields: (repeat each Field)

    package init(_ fields: repeat each Field) { self.fields = (repeat each fields) }
}
