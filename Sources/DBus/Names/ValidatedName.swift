internal import CDBus
import Glibc

/// A name of the D-Bus specification whose form has been checked.
///
/// libdbus ends the process when it is handed a malformed name, so nothing else than these types reaches it.
package protocol ValidatedName: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    var string: String { get }

    /// For strings that are known to be valid: libdbus delivered them, or they were put together from valid ones.
    init(trusted string: String)

    /// Whether a NUL-terminated UTF-8 string has this form.
    static func validate(_ text: UnsafePointer<CChar>) -> Bool
}

extension ValidatedName {
    /// - Returns: `nil` unless `string` has the form that the specification asks for.
    package init?(_ string: String) {
        let length = string.utf8.count
        guard string.withCString({ strlen($0) == length && Self.validate($0) }) else { return nil }
        self.init(trusted: string)
    }

    /// A name written in the source; a malformed one is a programming error.
    package init(stringLiteral string: String) {
        guard let name = Self(string) else { preconditionFailure("malformed name in the source: \(string)") }
        self = name
    }

    package var description: String { string }

    package static func < (left: Self, right: Self) -> Bool { left.string < right.string }
}

/// The name of a connection: unique (`:1.42`) or well-known (`org.freedesktop.GeoClue2`).
package struct BusName: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_validate_bus_name(text, nil) != 0 }

    /// Whether the bus itself has given this name, so that no other connection ever bears it.
    package var isUnique: Bool { string.utf8.first == UInt8(ascii: ":") }
}

/// The path of an object, `/org/freedesktop/GeoClue2/Manager`.
package struct ObjectPath: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_validate_path(text, nil) != 0 }

    /// The root, which also stands for “no object” in interfaces that cannot leave a path out.
    package static let root: ObjectPath = "/"

    /// The path of a child. `element` must be a valid path element: letters, digits, underscores.
    package func appending(_ element: String) -> ObjectPath {
        precondition(!element.isEmpty && element.utf8.allSatisfy(Self.isElementByte), "malformed path element")
        return ObjectPath(trusted: self == .root ? "/" + element : string + "/" + element)
    }

    private static func isElementByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The name of an interface, `org.freedesktop.GeoClue2.Manager`.
package struct InterfaceName: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_validate_interface(text, nil) != 0 }
}

/// The name of a method, signal or property.
package struct MemberName: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_validate_member(text, nil) != 0 }
}

/// The name of an error, `org.freedesktop.DBus.Error.AccessDenied`.
package struct ErrorName: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_validate_error_name(text, nil) != 0 }
}
