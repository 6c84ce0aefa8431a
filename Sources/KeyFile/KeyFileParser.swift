/// Goes through a key file line by line.
struct KeyFileParser {
    private(set) var document = KeyFileDocument()

    private let file: String
    private var line = 0
    /// `nil` before the first header, and after one that cannot be read: what stands below it belongs to nobody.
    private var group: String?
    private var isBelowBadHeader = false

    /// Longer names name no group, in bytes: every entry and every fault bears its group's name, and that of an
    /// application has at most 255 bytes.
    static let nameLimit = 512

    init(file: String) { self.file = file }

    mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: newline) ?? rest.endIndex
            line += 1
            read(line: trimmed(rest[..<end]))
            rest = rest[end...].dropFirst()
        }
    }

    private mutating func read(line bytes: Slice<UnsafeRawBufferPointer>) {
        // Nobody needs to read a comment, so its encoding does not matter.
        guard let first = bytes.first, first != UInt8(ascii: "#") else { return }
        guard let text = String(validating: bytes, as: UTF8.self) else { return note(.invalidUTF8) }
        guard !text.utf8.contains(0) else { return note(.containsNUL) }
        if first == UInt8(ascii: "[") { readHeader(text) } else { readEntry(text) }
    }

    private mutating func readHeader(_ text: String) {
        let name = text.dropFirst().dropLast()
        let isName =
            text.hasSuffix("]") && !name.isEmpty && name.utf8.count <= Self.nameLimit
            && !name.contains { $0 == "[" || $0 == "]" }
        guard isName, !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            group = nil
            isBelowBadHeader = true
            return note(.badHeader)
        }
        group = String(name)
        document.headers.append(.init(group: String(name), place: place))
    }

    private mutating func readEntry(_ text: String) {
        let bytes = text.utf8
        guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign != bytes.startIndex else {
            return note(.notAnEntry)
        }
        guard let group else {
            // The header has its fault already.
            return isBelowBadHeader ? () : note(.outsideGroup)
        }
        let key = trimmed(bytes[..<sign])
        let value = trimmed(bytes[bytes.index(after: sign)...])
        guard !key.contains(UInt8(ascii: "[")) else { return }
        document.entries.append(
            .init(group: group, key: String(Substring(key)), value: RawValue(String(Substring(value))), place: place))
    }

    private var place: KeyFileDocument.Place { .init(file: file, line: line) }

    private mutating func note(_ problem: ConfigurationFault.Problem) {
        document.faults.append(ConfigurationFault(problem, at: place, group: group))
    }
}

private let newline = UInt8(ascii: "\n")

/// Without the white space of ASCII at both ends. GLib leaves it at the end of a value; nobody means it there, and `\s`
/// writes a blank that is meant.
func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let start = bytes.firstIndex(where: { !isBlank($0) }),
        let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return bytes[bytes.endIndex...] }
    return bytes[start...last]
}
