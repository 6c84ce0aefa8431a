import Glibc

/// Where a stream of reports is served: a Unix socket, or a TCP port at a literal address.
///
/// Host names are refused, because asking DNS would block the loop; `localhost` is the loopback by RFC 6761, 6.3.
package enum StreamAddress: Sendable, Hashable {
    case unix(path: String)
    /// `host` is an IPv4 or IPv6 address in digits.
    case tcp(host: String, port: UInt16)

    /// Why a text is no address.
    package enum Refusal: Error, Equatable, Sendable {
        case empty
        case pathTooLong(limit: Int)
        case notAnAddress
        case badPort
    }

    /// Reads `/path`, `127.0.0.1:2947`, `[::1]:2947`, and both without the port.
    ///
    /// - Throws: ``Refusal``.
    package init(_ text: String, defaultPort: UInt16) throws(Refusal) {
        guard let first = text.utf8.first else { throw .empty }
        if first == UInt8(ascii: "/") {
            guard text.utf8.count <= Self.longestPath else { throw .pathTooLong(limit: Self.longestPath) }
            self = .unix(path: text)
            return
        }
        let (host, port) = try Self.split(text)
        let literal = host == "localhost" ? "127.0.0.1" : host
        guard Self.isLiteral(literal) else { throw .notAnAddress }
        guard let port else {
            self = .tcp(host: literal, port: defaultPort)
            return
        }
        guard let number = UInt16(port), number > 0 else { throw .badPort }
        self = .tcp(host: literal, port: number)
    }

    /// `sockaddr_un.sun_path` without its closing NUL (unix(7)).
    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private static func split(_ text: String) throws(Refusal) -> (host: String, port: String?) {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw .notAnAddress }
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.first == ":" else { throw .notAnAddress }
            return (host, String(rest.dropFirst()))
        }
        guard let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func isLiteral(_ host: String) -> Bool {
        var space = in6_addr()
        return inet_pton(AF_INET, host, &space) == 1 || inet_pton(AF_INET6, host, &space) == 1
    }
}

extension StreamAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}

extension StreamAddress {
    var family: Int32 {
        switch self {
        case .unix: AF_UNIX
        case .tcp(let host, _): host.contains(":") ? AF_INET6 : AF_INET
        }
    }

    /// Hands the address to `body` as the kernel wants it.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(Self.longestPath)) }
            return Self.pass(&address, to: body)
        case .tcp(let host, let port) where family == AF_INET6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            return Self.pass(&address, to: body)
        case .tcp(let host, let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            return Self.pass(&address, to: body)
        }
    }

    private static func pass<Address, Result>(
        _ address: inout Address, to body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeBytes(of: &address) {
            body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
    }
}
