/// A Swift type with a D-Bus type of its own.
package protocol DBusType: Sendable {
    static var signature: Signature { get }

    /// Takes the next value of this type.
    ///
    /// - Throws: ``ReadError`` where the message holds something else there.
    static func read(from reader: inout MessageReader) throws(ReadError) -> Self

    /// - Throws: ``WriteError`` for a value that the wire cannot carry.
    func write(to writer: borrowing MessageWriter) throws(WriteError)
}

/// Why a value could not be read.
package enum ReadError: Error, Equatable {
    case unexpectedType(expected: Signature, found: Signature)
    /// A file descriptor was announced and is not there, or the process has none left.
    case missingDescriptor
    /// More than the reader was to take; what one byte on the wire becomes in memory is many times as long.
    case tooLarge
}

/// Why a value could not be written.
package enum WriteError: Error, Equatable {
    /// D-Bus strings hold no NUL.
    case embeddedNUL
    /// An array whose elements are not of the stated type, or a type that cannot stand there.
    case unfittingType(expected: Signature, found: Signature)
    /// More than a message of ours may hold: ``MessageWriter/depthLimit``, ``MessageWriter/sizeLimit``,
    /// ``MessageWriter/descriptorLimit``.
    case tooLarge
}

/// A type whose values may be keys of a dictionary.
package protocol DBusBasicType: DBusType, Hashable {}
