/// How it is known which application a caller is; the first part of a record's key.
package enum Trust: String, Sendable, Hashable, CaseIterable {
    /// Named by its Flatpak scope.
    case flatpak
    /// Named by its snap's unit or security label.
    case snap
    /// Named by the scope or service in which the session started it. Whatever it starts inherits the name.
    case host
    /// Named by nothing but what an unsandboxed caller says of itself.
    case claimed
    /// In some sandbox that cannot be named; the id is what the caller says of itself.
    case unknown

    /// Whether a program can give itself any number of names of this kind.
    package var isSelfGiven: Bool {
        switch self {
        case .host, .claimed, .unknown: true
        case .flatpak, .snap: false
        }
    }
}
