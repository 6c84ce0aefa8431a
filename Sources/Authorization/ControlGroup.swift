/// One path of a process in systemd's hierarchy of control groups.
struct ControlGroup {
    let components: [String]

    private init(path: Substring) {
        // The kernel marks the path of a group that has been removed under its process (cgroups(7)).
        let path = path.hasSuffix(" (deleted)") ? path.dropLast(10) : path
        components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The paths that `/proc/PID/cgroup` gives for systemd's own hierarchy: the unified one (`0::…`), and the named one
    /// of legacy and hybrid systems (`1:name=systemd:…`). Controllers have paths of their own, which say nothing.
    static func paths(in file: String) -> [ControlGroup] {
        // By bytes, which is many times faster: it is done for every peer.
        file.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                .map(Substring.init)
            guard fields.count == 3, fields[2].hasPrefix("/") else { return nil }
            guard fields[1] == "name=systemd" || (fields[0] == "0" && fields[1].isEmpty) else { return nil }
            return ControlGroup(path: fields[2])
        }
    }

    /// The innermost unit; groups below it are that unit's own.
    var unit: String? { components.last { $0.hasSuffix(".scope") || $0.hasSuffix(".service") } }

    /// Whether a user's service manager made the unit, and not the system's.
    var isOfUserManager: Bool { components.contains { $0.hasPrefix("user@") && $0.hasSuffix(".service") } }

    /// Undoes systemd's escapes (`\x2d` for a dash; systemd.unit(5), "String escaping for inclusion in unit names").
    ///
    /// - Returns: the empty string, which is no id, where the bytes are no UTF-8.
    static func unescaped(_ name: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = Substring(rest.dropFirst().prefix(2)).hexByte
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(3)
        }
        return String(validating: bytes, as: UTF8.self) ?? ""
    }
}

extension Substring {
    fileprivate var hexByte: UInt8? {
        utf8.count == 2 && allSatisfy(\.isHexDigit) ? UInt8(self, radix: 16) : nil
    }
}
