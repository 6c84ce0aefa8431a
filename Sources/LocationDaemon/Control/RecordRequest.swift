import Authorization
import DBus
import Geolocation

/// What `SetRecord` was given, checked as far as that can be done without knowing what is stored.
struct RecordRequest {
    private(set) var userID: UInt32?
    private var decision: AuthorizationRecord.Decision?
    private var level: AccuracyLevel?
    private var type: AuthorizationRecord.UseType?
    private var lifetime: AuthorizationRecord.Lifetime?
    private var expires: Timestamp?

    private static let readOnlyKeys = [
        "app", "trust", "decided-by", "created", "changed", "last-day", "reason", "history",
    ]

    init(_ entries: [String: Variant]) throws(Entries.Fault) {
        for key in Self.readOnlyKeys where entries[key] != nil {
            throw .badValue(key: key, problem: "can only be read")
        }
        var entries = Entries(entries)
        userID = try entries.number("uid")
        decision = try entries.word("decision")
        if let number: UInt32 = try entries.number("level") {
            guard let level = AccuracyLevel(rawValue: number) else {
                throw .badValue(key: "level", problem: "is none of 0, 1, 4, 5, 6, 8")
            }
            self.level = level
        }
        type = try entries.word("type")
        // Leave that gives more than it says is worse than none.
        if type == .whenInUse { throw .badValue(key: "type", problem: "cannot be held to yet; only “always” can") }
        lifetime = try entries.word("lifetime")
        expires = try (entries.number("expires") as Int64?).map(Timestamp.init(microseconds:))
        try entries.finish()
    }

    /// The record as it is to be stored.
    ///
    /// What is not given stays as it was, or is what a decision by hand usually means: all that is asked for, for ever;
    /// leave for a name that others can bear ends with the session.
    func record(
        key: String, userID: UInt32, author: UInt32, replacing old: AuthorizationRecord?, now: Timestamp
    ) throws(Entries.Fault) -> AuthorizationRecord {
        // A switch that is only given a level is a ceiling.
        let isSwitch = key == AuthorizationRecord.userSwitch
        let kept = old.flatMap { $0.isUndecided ? nil : $0 }
        guard let decision = decision ?? kept?.decision ?? (isSwitch ? .allow : nil) else {
            throw .missingKey("decision")
        }
        let isSame = kept?.decision == decision
        let lifetime = try lifetime(of: decision, key: key, keeping: isSame ? kept : nil)
        let expires = lifetime == .until ? expires ?? (isSame ? kept?.expires : nil) : nil
        if lifetime == .until {
            guard let expires else { throw .missingKey("expires") }
            guard expires > now else { throw .badValue(key: "expires", problem: "is over already") }
        }
        return AuthorizationRecord(
            userID: userID, key: key, decision: decision,
            level: level ?? (isSame ? kept?.level : nil) ?? (decision == .deny ? .none : .exact),
            type: type ?? kept?.type ?? .always, author: .user(author), lifetime: lifetime, expires: expires,
            created: old?.created ?? now, changed: now)
    }

    private func lifetime(
        of decision: AuthorizationRecord.Decision, key: String, keeping kept: AuthorizationRecord?
    ) throws(Entries.Fault) -> AuthorizationRecord.Lifetime {
        if expires != nil {
            guard lifetime ?? .until == .until else {
                throw .badValue(key: "expires", problem: "goes with the lifetime “until” alone")
            }
            return .until
        }
        if let lifetime = lifetime ?? kept?.lifetime { return lifetime }
        let isShared = ApplicationIdentity(key: key).map { $0.trust == .host || $0.trust == .unknown } ?? false
        return decision == .allow && isShared ? .session : .forever
    }
}
