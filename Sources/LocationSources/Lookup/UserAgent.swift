import EventLoop

/// Says who asks a lookup service, as those without keys ask their clients to.
package enum UserAgent {
    /// `Whereabouts/VERSION (ID VERSION_ID)`, with the words of os-release(5); of what is not known there is nothing.
    ///
    /// - Parameter osRelease: the contents of the file.
    package static func text(version: String, osRelease: String) -> String {
        let id = value("ID", in: osRelease) ?? "linux"
        let system = [id, value("VERSION_ID", in: osRelease)].compactMap(\.self).joined(separator: " ")
        return "Whereabouts/\(version) (\(system))"
    }

    /// The same, with this machine's file.
    package static func text(version: String) -> String {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            guard let bytes = try? FileContents.read(path, limit: 1 << 16) else { continue }
            return text(version: version, osRelease: String(decoding: bytes, as: UTF8.self))
        }
        return text(version: version, osRelease: "")
    }

    /// The last assignment counts, as for a shell.
    private static func value(_ key: String, in osRelease: String) -> String? {
        let lines = osRelease.split(whereSeparator: \.isNewline)
        guard let line = lines.last(where: { $0.hasPrefix(key + "=") }) else { return nil }
        var value = line.dropFirst(key.count + 1)
        if let quote = value.first, "\"'".contains(quote), value.count >= 2, value.last == quote {
            value = value.dropFirst().dropLast()
        }
        let isHarmless = { (byte: UInt8) in
            switch byte | 0x20 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): true
            default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._+~".utf8.contains(byte)
            }
        }
        // It goes into a header.
        guard (1...64).contains(value.utf8.count), value.utf8.allSatisfy(isHarmless) else { return nil }
        return String(value)
    }
}
