/// As much of an `http` or `https` address as decides whether it may be used.
struct WebAddress {
    let isSecure: Bool
    let host: Substring

    /// - Returns: `nil` for another scheme, without a host, with a name and password, or with blanks or backslashes
    ///   (which readers of addresses understand differently, and so see different hosts).
    init?(_ text: String) {
        let isStrange = { (byte: UInt8) in byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") }
        guard !text.utf8.contains(where: isStrange) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { return nil }
        switch parts[0].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        let authority = parts[1].dropFirst(2).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[...end].dropFirst().dropLast()
        } else {
            host = authority.prefix { $0 != ":" }
        }
        guard !host.isEmpty else { return nil }
    }

    var isLoopback: Bool { host == "localhost" || host == "::1" || Self.isLoopbackV4(host) }

    private static func isLoopbackV4(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
