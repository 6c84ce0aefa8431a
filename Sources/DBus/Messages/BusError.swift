/// An error reply: what a caller receives, or what a call came back with.
package struct BusError: Error, Equatable, Sendable {
    package let name: ErrorName
    /// For people and logs; a program goes by the name.
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    // Names of the D-Bus specification and its reference implementation.
    package static func failed(_ message: String) -> Self { Self("org.freedesktop.DBus.Error.Failed", message) }
    package static func accessDenied(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.AccessDenied", message)
    }
    package static func invalidArguments(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.InvalidArgs", message)
    }
    package static func limitsExceeded(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.LimitsExceeded", message)
    }
    package static func unknownMethod(_ message: String) -> Self {
        Self("org.freedesktop.DBus.Error.UnknownMethod", message)
    }

    static func noSuchObject(at path: ObjectPath) -> Self {
        .unknownMethod("Object does not exist at path “\(path)”")
    }

    static func noSuchInterface(_ interface: InterfaceName, at path: ObjectPath) -> Self {
        .unknownMethod("No such interface “\(interface)” on object at path \(path)")
    }

    /// The deadline that the caller set has passed.
    package static let noReply = Self("org.freedesktop.DBus.Error.NoReply", "no reply within the time allowed")
    package static let disconnected = Self(
        "org.freedesktop.DBus.Error.Disconnected", "the connection to the bus is closed")
    /// The task that waited was cancelled.
    package static let cancelled = Self("org.freedesktop.DBus.Error.Failed", "the call was cancelled")
}

/// An error that knows which error reply it becomes.
package protocol BusErrorConvertible: Error {
    var busError: BusError { get }
}

extension BusError {
    /// The error reply that a handler's error becomes.
    init(handlerError error: any Error) {
        self = (error as? any BusErrorConvertible)?.busError ?? .failed("\(error)")
    }
}

extension BusError: BusErrorConvertible {
    package var busError: BusError { self }
}

extension ReadError: BusErrorConvertible {
    package var busError: BusError {
        switch self {
        case .unexpectedType(let expected, let found):
            .invalidArguments("expected type “\(expected)” but got “\(found)”")
        case .missingDescriptor: .invalidArguments("the file descriptor is missing")
        case .tooLarge: .limitsExceeded("the message is too large")
        }
    }
}

extension WriteError: BusErrorConvertible {
    package var busError: BusError {
        switch self {
        case .embeddedNUL: .failed("a D-Bus string cannot hold a NUL")
        case .unfittingType(let expected, let found): .failed("expected type “\(expected)” but got “\(found)”")
        case .tooLarge: .limitsExceeded("the value is too large for a message")
        }
    }
}
