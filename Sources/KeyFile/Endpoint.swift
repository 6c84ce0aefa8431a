import Glibc

/// A numeric IP address and a TCP port. Names are not looked up: that would hold up the loop.
package struct Endpoint: Sendable, Hashable {
    /// IPv4 in dotted form, or IPv6 without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `127.0.0.1:2947`, `[::1]:2947`, or either without a port; `localhost` stands for 127.0.0.1.
    ///
    /// - Returns: `nil` for anything else.
    init?(_ text: String, defaultPort: UInt16) {
        let host: Substring
        let port: Substring?
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        } else {
            host = text[...]
            port = nil
        }
        guard let address = Self.numeric(host) else { return nil }
        if let port {
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number > 0 else {
                return nil
            }
            self.init(host: address, port: number)
        } else {
            self.init(host: address, port: defaultPort)
        }
    }

    private static func numeric(_ host: Substring) -> String? {
        if host == "localhost" { return "127.0.0.1" }
        let text = String(host)
        var buffer = in6_addr()
        return [AF_INET, AF_INET6].contains { inet_pton($0, text, &buffer) == 1 } ? text : nil
    }
}

extension Endpoint: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
