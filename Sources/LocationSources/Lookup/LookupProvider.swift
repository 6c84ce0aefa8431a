/// A lookup service that speaks the protocol of Ichnaea: where its requests go, and how it is called in the log.
package struct LookupProvider: Sendable, Hashable {
    /// As the configuration has it; may hold an access key (`?key=…`).
    package let url: String
    /// The name or the number of the host, in lower case, without brackets and port.
    package let host: String
    /// Whether it is on this machine, so that it needs no network.
    package let isLocal: Bool

    /// - Returns: `nil` for what is no `https` address, or an `http` one of another machine; with a name and password;
    ///   with anything but visible ASCII, or with what readers of addresses understand differently.
    package init?(_ url: String) {
        let isPlain = { (byte: UInt8) in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "#")
        }
        guard url.utf8.count <= 2048, url.utf8.allSatisfy(isPlain) else { return nil }
        let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { return nil }
        let authority = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(of: authority) else { return nil }
        isLocal = Self.isLoopback(host)
        switch parts[0].lowercased() {
        case "https": break
        case "http" where isLocal: break
        default: return nil
        }
        self.url = url
        self.host = host
    }

    private static func host(of authority: Substring) -> String? {
        let name: Substring
        let rest: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
            guard name.utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return nil }
        } else {
            name = authority.prefix { $0 != ":" }
            rest = authority.dropFirst(name.count)
            guard name.utf8.allSatisfy(isOfName) else { return nil }
        }
        let isPort = rest.isEmpty || rest.hasPrefix(":") && UInt16(rest.dropFirst()).map { $0 > 0 } ?? false
        return name.isEmpty || !isPort ? nil : name.lowercased()
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._".utf8.contains(byte)
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension LookupProvider: CustomStringConvertible, CustomReflectable {
    /// The host alone: the rest of the address may hold a key.
    package var description: String { host }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
