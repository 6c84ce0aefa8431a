/// Where a process comes from, as far as it cannot choose that itself.
package enum ProcessOrigin: Sendable, Hashable {
    case flatpak(id: String)
    case snap(name: String)
    /// Started by the session as this application, or started by such a one.
    case host(id: String)
    /// The desktop portal, known by its own unit.
    case portal
    /// Not sandboxed, and nothing names it.
    case unnamed
    /// In some sandbox, or nothing could be learned about it.
    case unknown

    /// Judges the facts; what cannot be read counts against the caller.
    package init(_ facts: ProcessFacts) {
        self = Self.sandbox(label: facts.securityLabel) ?? Self.judge(facts)
    }

    package var isPortal: Bool { self == .portal }

    package var isSandboxed: Bool {
        switch self {
        case .flatpak, .snap, .unknown: true
        case .host, .portal, .unnamed: false
        }
    }

    private static func judge(_ facts: ProcessFacts) -> ProcessOrigin {
        guard let paths = facts.cgroup.map(ControlGroup.paths(in:)), !paths.isEmpty else { return .unknown }
        // A sandbox anywhere on any path counts, so that no group below its scope leads out of it.
        for path in paths {
            for name in path.components.reversed() {
                if let sandbox = sandbox(unit: name) { return sandbox }
            }
        }
        guard facts.namespaceProcessIDs.map(isOfOurNamespace) ?? false else { return .unknown }
        // The proxy speaks for whatever stands behind it.
        guard facts.command.map(trimmed) != "xdg-dbus-proxy" else { return .unknown }
        for path in paths where path.isOfUserManager {
            if path.unit == "xdg-desktop-portal.service" { return .portal }
            if let id = path.unit.flatMap(hostApplication(unit:)) { return .host(id: id) }
        }
        return .unnamed
    }

    /// One process id means our own namespace; each further one is a level of nesting (proc_pid_status(5), `NSpid`).
    private static func isOfOurNamespace(_ line: String) -> Bool {
        let numbers = line.split { $0 == ":" || $0.isWhitespace }.filter { $0 != "NSpid" }
        return numbers.count == 1 && numbers.allSatisfy { UInt32($0) != nil }
    }

    private static func trimmed(_ text: String) -> String { String(text.prefix { !$0.isNewline }) }
}

// MARK: - Names of units and labels

extension ProcessOrigin {
    /// `snap.NAME.APP (enforce)`, the label of snapd's AppArmor profiles.
    private static func sandbox(label: String?) -> ProcessOrigin? {
        guard let label, label.hasPrefix("snap.") else { return nil }
        let name = label.dropFirst(5).prefix { $0 != "." && $0 != " " }
        return valid(String(name)).map(ProcessOrigin.snap) ?? .unknown
    }

    /// The sandbox whose unit this is; `unknown` where it is one that names nobody properly, `nil` where it is none.
    private static func sandbox(unit: String) -> ProcessOrigin? {
        for prefix in ["app-flatpak-", "flatpak-", "xdg-app-"] where unit.hasPrefix(prefix) {
            guard let body = unit.dropping(suffix: ".scope")?.dropFirst(prefix.count) else { continue }
            // Ids may contain dashes themselves, so the last one ends it.
            guard let dash = body.lastIndex(of: "-"), body[dash...].dropFirst().isNumber else { return .unknown }
            return valid(ControlGroup.unescaped(body[..<dash])).map(ProcessOrigin.flatpak) ?? .unknown
        }
        if unit.hasPrefix("snap."), let body = unit.dropping(suffix: ".scope") ?? unit.dropping(suffix: ".service") {
            let name = body.dropFirst(5).prefix { $0 != "." }
            return valid(ControlGroup.unescaped(name)).map(ProcessOrigin.snap) ?? .unknown
        }
        return nil
    }

    /// The application of `app[-LAUNCHER]-ID-RANDOM.scope` or `app[-LAUNCHER]-ID[@RANDOM].service` (systemd, "Desktop
    /// Environment Integration"). Dashes within a part are escaped there; unescaped ones are taken for the id's own.
    private static func hostApplication(unit: String) -> String? {
        guard unit.hasPrefix("app-") else { return nil }
        var body: Substring
        if let scope = unit.dropping(suffix: ".scope") {
            guard let dash = scope.lastIndex(of: "-"), dash > scope.startIndex else { return nil }
            body = scope[..<dash]
        } else if let service = unit.dropping(suffix: ".service") {
            body = service
        } else {
            return nil
        }
        body = body.prefix { $0 != "@" }.dropFirst(4)
        var parts = body.split(separator: "-", omittingEmptySubsequences: false)
        // A launcher is a plain word (`gnome`, `KDE`); a dot belongs to an id.
        if parts.count > 1, !parts[0].contains(".") { parts.removeFirst() }
        return valid(ControlGroup.unescaped(Substring(parts.joined(separator: "-"))))
    }

    private static func valid(_ id: String) -> String? {
        ApplicationIdentity.problem(with: id) == nil ? id : nil
    }
}

extension String {
    fileprivate func dropping(suffix: String) -> Substring? { hasSuffix(suffix) ? dropLast(suffix.count) : nil }
}

extension Substring {
    fileprivate var isNumber: Bool { !isEmpty && allSatisfy { $0.isASCII && $0.isNumber } }
}
