import EventLoop

/// Follows who owns which names: peers by their unique names, services by their well-known ones.
///
/// One `arg0` rule for each name makes a stranger's coming and going cost nothing. A connection may hold 512 rules on
/// the stock bus, so beyond ``ruleLimit`` names one broad rule serves the rest.
@ServiceActor
final class NameWatch {
    typealias Handler = @ServiceActor (BusName?) -> Void

    private struct Followed {
        var handlers: [Int: Handler] = [:]
        let hasOwnRule: Bool
    }

    static let ruleLimit = 400

    private var followed: [BusName: Followed] = [:]
    private var ownRules = 0
    private var withoutRule = 0
    private var nextID = 0
    private let addMatch: @ServiceActor (MatchRule) -> Void
    private let removeMatch: @ServiceActor (MatchRule) -> Void

    init(
        addMatch: @escaping @ServiceActor (MatchRule) -> Void, removeMatch: @escaping @ServiceActor (MatchRule) -> Void
    ) {
        self.addMatch = addMatch
        self.removeMatch = removeMatch
    }

    func add(_ name: BusName, _ handler: @escaping Handler) -> Int {
        nextID += 1
        if followed[name] == nil { follow(name) }
        followed[name]?.handlers[nextID] = handler
        return nextID
    }

    func remove(_ id: Int, from name: BusName) {
        followed[name]?.handlers[id] = nil
        if followed[name]?.handlers.isEmpty == true { unfollow(name) }
    }

    /// Takes in a `NameOwnerChanged` of the bus.
    func ownerChanged(_ name: BusName, to owner: BusName?) {
        guard let handlers = followed[name]?.handlers else { return }
        // A unique name is never given again.
        if owner == nil, name.isUnique { unfollow(name) }
        for (_, handler) in handlers.sorted(by: { $0.key < $1.key }) { handler(owner) }
    }

    private func follow(_ name: BusName) {
        let getsRule = ownRules < Self.ruleLimit
        followed[name] = Followed(hasOwnRule: getsRule)
        if getsRule {
            ownRules += 1
            addMatch(.nameOwnerChanged(name))
        } else {
            if withoutRule == 0 { addMatch(.nameOwnerChanged(nil)) }
            withoutRule += 1
        }
    }

    private func unfollow(_ name: BusName) {
        guard let gone = followed.removeValue(forKey: name) else { return }
        if gone.hasOwnRule {
            ownRules -= 1
            removeMatch(.nameOwnerChanged(name))
        } else {
            withoutRule -= 1
            if withoutRule == 0 { removeMatch(.nameOwnerChanged(nil)) }
        }
    }
}

extension MatchRule {
    /// The bus's own signal about the owner of `name`, or of every name.
    static func nameOwnerChanged(_ name: BusName?) -> MatchRule {
        MatchRule(
            sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            argument0: name?.string)
    }
}

extension BusName {
    /// The bus itself.
    package static let bus: BusName = "org.freedesktop.DBus"
}
