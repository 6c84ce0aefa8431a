internal import CDBus

/// A sequence of complete types, `sa{sv}as`. At most 255 bytes (D-Bus specification, “Valid Signatures”).
package struct Signature: ValidatedName {
    package let string: String

    package init(trusted string: String) { self.string = string }

    package static func validate(_ text: UnsafePointer<CChar>) -> Bool { dbus_signature_validate(text, nil) != 0 }

    package static let empty = Signature(trusted: "")

    /// Whether this is exactly one complete type, as a variant or an array element is.
    package var isSingleType: Bool {
        !string.isEmpty && string.withCString { dbus_signature_validate_single($0, nil) != 0 }
    }

    /// The complete types in order: `sa{sv}` gives `s` and `a{sv}`.
    package var completeTypes: [Signature] {
        var types: [Signature] = []
        var depth = 0
        var current = ""
        for character in string {
            current.append(character)
            switch character {
            case "(", "{": depth += 1
            case ")", "}": depth -= 1
            case "a": continue
            default: break
            }
            guard depth == 0 else { continue }
            types.append(Signature(trusted: current))
            current = ""
        }
        return types
    }
}
