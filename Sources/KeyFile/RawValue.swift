/// The text after the `=`, and what it is as a value of some type.
package struct RawValue: Sendable, Equatable {
    package let text: String

    init(_ text: String) { self.text = text }

    /// `true`, `false`, `1` or `0`.
    package var boolean: Bool? {
        switch text {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// A decimal number with a point, whatever the locale. Neither infinite nor NaN.
    package var number: Double? {
        // Double(_:) takes hexadecimal digits, "inf" and "nan" too.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    package var integer: Int? { Int(text) }

    /// The text with its escapes (`\s \n \t \r \\`) resolved.
    ///
    /// - Throws: ``ConfigurationFault/Problem/invalidEscape`` for any other, and for a backslash at the end.
    package func string() throws(ConfigurationFault.Problem) -> String {
        try Self.pieces(text.utf8, isList: false)[0]
    }

    /// The pieces between semicolons, white space around each removed and empty ones left out; `\;` is a semicolon in
    /// a piece.
    package func list() throws(ConfigurationFault.Problem) -> [String] {
        try Self.pieces(text.utf8, isList: true).filter { !$0.isEmpty }
    }

    private static func pieces(
        _ bytes: String.UTF8View, isList: Bool
    ) throws(ConfigurationFault.Problem) -> [String] {
        var pieces: [String] = []
        var piece: [UInt8] = []
        /// Up to here the piece is kept as it is: blanks that are written as escapes are meant.
        var kept = 0
        func finish() {
            while isList, piece.count > kept, piece.last == 0x20 || piece.last == 0x09 { piece.removeLast() }
            pieces.append(String(decoding: piece, as: UTF8.self))
            piece = []
            kept = 0
        }

        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "\\"):
                piece.append(try unescaped(rest.next(), isList: isList))
                kept = piece.count
            case UInt8(ascii: ";") where isList: finish()
            case 0x20 where isList && piece.isEmpty, 0x09 where isList && piece.isEmpty: break
            default: piece.append(byte)
            }
        }
        finish()
        return pieces
    }

    private static func unescaped(_ byte: UInt8?, isList: Bool) throws(ConfigurationFault.Problem) -> UInt8 {
        switch byte {
        case UInt8(ascii: "s"): 0x20
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "\\"): UInt8(ascii: "\\")
        case UInt8(ascii: ";") where isList: UInt8(ascii: ";")
        default: throw .invalidEscape
        }
    }
}
