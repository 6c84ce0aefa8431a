extension JSONValue {
    /// How a document is laid out.
    package enum Layout: Sendable {
        /// On one line without spaces.
        case compact
        /// One member a line, indented by two spaces.
        case indented
    }

    /// Writes the value as JSON, members in the order of their keys, numbers with as many digits as bring them back.
    ///
    /// jansson's own writer has one precision for all numbers: 60.1699 would become 60.169899999999998.
    ///
    /// - Throws: ``JSONError/notFinite``.
    package func text(_ layout: Layout = .compact) throws(JSONError) -> String {
        var text = ""
        try write(to: &text, layout, level: 0)
        return text
    }

    private func write(to text: inout String, _ layout: Layout, level: Int) throws(JSONError) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value):
            guard value.isFinite else { throw .notFinite }
            text += value.description
        case .string(let value): Self.write(value, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                Self.separate(index, &text, layout, level + 1)
                try element.write(to: &text, layout, level: level + 1)
            }
            if !elements.isEmpty { Self.breakLine(&text, layout, level) }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, key) in members.keys.sorted().enumerated() {
                Self.separate(index, &text, layout, level + 1)
                Self.write(key, to: &text)
                text += layout == .compact ? ":" : ": "
                try members[key]?.write(to: &text, layout, level: level + 1)
            }
            if !members.isEmpty { Self.breakLine(&text, layout, level) }
            text += "}"
        }
    }

    private static func separate(_ index: Int, _ text: inout String, _ layout: Layout, _ level: Int) {
        if index > 0 { text += "," }
        breakLine(&text, layout, level)
    }

    private static func breakLine(_ text: inout String, _ layout: Layout, _ level: Int) {
        guard layout == .indented else { return }
        text += "\n" + String(repeating: "  ", count: level)
    }

    /// Writes a string with the escapes that RFC 8259, 7 demands.
    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
