/// Which application a caller is, and how far that is to be trusted.
package struct ApplicationIdentity: Sendable, Hashable {
    package let trust: Trust
    /// The id without its trust, as agents and configuration files know it: `org.example.Maps`.
    package let id: String

    /// Names the caller: by its origin where that knows a name, else by what it says of itself.
    ///
    /// A claim never beats a better identity; it is then not even looked at. `.desktop` at the end of a claim is dropped
    /// (not at the end of a Flatpak's own id, which may be `org.example.desktop`).
    ///
    /// - Parameter claim: the client's `DesktopId`, as it was written.
    package init(origin: ProcessOrigin, claim: String?) throws(ClaimError) {
        switch origin {
        case .flatpak(let id): self.init(trust: .flatpak, id: id)
        case .snap(let name): self.init(trust: .snap, id: name)
        case .host(let id): self.init(trust: .host, id: id)
        case .portal: self.init(trust: .host, id: "xdg-desktop-portal")
        case .unnamed: self.init(trust: .claimed, id: try Self.validated(claim))
        case .unknown: self.init(trust: .unknown, id: try Self.validated(claim))
        }
    }

    init(trust: Trust, id: String) {
        self.trust = trust
        self.id = id
    }

    /// The application that a record's key names.
    ///
    /// - Returns: `nil` unless `key` is a trust, a colon, and a valid id.
    package init?(key: String) {
        guard let colon = key.firstIndex(of: ":"), let trust = Trust(rawValue: String(key[..<colon]))
        else { return nil }
        let id = String(key[key.index(after: colon)...])
        guard Self.problem(with: id) == nil else { return nil }
        self.init(trust: trust, id: id)
    }

    /// What records are filed under: `flatpak:org.example.Maps`.
    package var key: String { "\(trust.rawValue):\(id)" }

    /// Whether the caller is walled off from the user's other programs, so that consent means something.
    package var isSandboxed: Bool {
        switch trust {
        case .flatpak, .snap, .unknown: true
        case .host, .claimed: false
        }
    }
}

// MARK: - Ids

extension ApplicationIdentity {
    /// Why an id names no application.
    package enum ClaimError: Error, Hashable, Sendable {
        case missing
        case tooLong(bytes: Int)
        case forbiddenCharacter(Unicode.Scalar)

        /// The text for the caller.
        package var message: String {
            switch self {
            case .missing:
                "'DesktopId' property must be set"
            case .tooLong(let bytes):
                "'DesktopId' has \(bytes) bytes; at most \(ApplicationIdentity.maximumBytes) are allowed"
            case .forbiddenCharacter(let scalar):
                "'DesktopId' contains U+\(String(scalar.value, radix: 16, uppercase: true)), which is not allowed"
            }
        }
    }

    /// The longest id, in bytes of UTF-8: that of a D-Bus name (D-Bus specification, "Valid Names").
    package static let maximumBytes = 255

    private static let desktopSuffix = ".desktop"

    private static func validated(_ claim: String?) throws(ClaimError) -> String {
        var id = claim ?? ""
        if id.hasSuffix(desktopSuffix) { id.removeLast(desktopSuffix.count) }
        if let problem = problem(with: id) { throw problem }
        return id
    }

    /// What keeps `id` from being one; `nil` for a valid id.
    static func problem(with id: String) -> ClaimError? {
        guard !id.isEmpty else { return .missing }
        guard id.utf8.count <= maximumBytes else { return .tooLong(bytes: id.utf8.count) }
        for scalar in id.unicodeScalars where scalar == "/" || !isShowable(scalar) {
            return .forbiddenCharacter(scalar)
        }
        return nil
    }

    /// Whether a character can be shown to a person without turning the text around it or breaking the line.
    private static func isShowable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // The bidirectional controls are all of category Cf (Unicode Standard Annex 9, section 2).
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
