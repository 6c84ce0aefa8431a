import DBus
import EventLoop

/// What one modem tells of where it is, and the one owner of which of its sources are switched on.
///
/// ModemManager has one mask of sources for all its users, and no count of them. So what is wanted is added to what is
/// found on, and only what was added is taken back. The modem itself is never enabled, and whether ModemManager signals
/// positions is left as it is found: signals of the bus go to everybody who listens, so the position is asked for instead
/// (`GetLocation`), which only those may whom polkit lets. `GpsRefreshRate` governs those signals alone.
@ServiceActor
package final class ModemLocation {
    package nonisolated let path: ObjectPath
    package private(set) var capabilities: ModemSources = []

    /// Called for each sign that the modem may be in another cell, while it is in use.
    let signs = Observers()

    /// After a refusal nobody asks again for so long.
    static let rest = Duration.seconds(60)
    /// The least time between two calls for one thing, whoever switches it off again.
    static let spacing = Duration.seconds(5)
    /// How long ModemManager may take for a position.
    static let patience = Duration.seconds(10)

    private static let modem: InterfaceName = "org.freedesktop.ModemManager1.Modem"
    static let interface: InterfaceName = "org.freedesktop.ModemManager1.Modem.Location"
    private static let wrongState: ErrorName = "org.freedesktop.ModemManager1.Error.Core.WrongState"
    /// Says no to what is asked, not to who asks, as with a receiver that somebody reads from a port of its own.
    private static let incompatible: Set<ErrorName> = [
        "org.freedesktop.ModemManager1.Error.Core.Failed", "org.freedesktop.ModemManager1.Error.Core.InvalidArgs",
        "org.freedesktop.ModemManager1.Error.Core.Unsupported",
    ]
    /// From here on a modem is enabled (`MM_MODEM_STATE_ENABLED`).
    private static let enabledState: Int32 = 6
    /// What a position may take in memory, in bytes.
    private static let largestPosition = 64 << 10

    private let manager: BusName
    private let connection: Connection
    private let clock: any Clock
    private let changed: @ServiceActor () -> Void

    private var enabled: ModemSources = []
    private var signalsLocation = false
    private var uses: [String: Use] = [:]
    /// What may be on because of us.
    private var ours: ModemSources = []
    /// When it may be asked to take that back.
    private var returnNotBefore = Duration.zero
    private var hasLoggedReturn = false
    private var isSettingUp = false
    private var willStep = false
    /// Whether what one user is refused has once kept others from what they want.
    private var takesOneAtATime = false
    private var isGone = false
    private var retry: Timer?
    private var propertyChanges: Subscription?
    private var reading = Reading()

    /// What one user wants, and what came of it.
    private struct Use {
        var sources: ModemSources = []
        var refusal: ErrorName?
        var triedAt: Duration?
        /// When the modem may be asked for it again.
        var notBefore = Duration.zero
    }

    /// What one call of `Setup` is for.
    private struct Change {
        var users: [String]
        var added: ModemSources = []
        let removed: ModemSources

        var isCompound: Bool { users.count + (removed.isEmpty ? 0 : 1) > 1 }
    }

    private struct Reading {
        var hasFailed = false
        var notBefore = Duration.zero
    }

    /// - Parameters:
    ///   - properties: those of its interface for locations.
    ///   - manager: the ModemManager that it is one of, by unique name.
    ///   - changed: called when something has changed that is not asked for but known.
    init(
        _ path: ObjectPath, _ properties: [String: Variant], of manager: BusName, over connection: Connection,
        clock: any Clock, changed: @escaping @ServiceActor () -> Void
    ) {
        self.path = path
        self.manager = manager
        self.connection = connection
        self.clock = clock
        self.changed = changed
        note(properties)
    }

    /// Takes in properties of the interface for locations that have changed.
    func take(_ properties: [String: Variant]) {
        note(properties)
        settle()
        changed()
    }

    /// Ends it: ModemManager has let go of the modem, or is gone itself.
    func gone() {
        isGone = true
        retry = nil
        propertyChanges = nil
    }

    private func note(_ properties: [String: Variant]) {
        if let mask = properties["Capabilities"].flatMap({ UInt32($0.value) }) {
            capabilities = ModemSources(rawValue: mask)
        }
        if let mask = properties["Enabled"].flatMap({ UInt32($0.value) }) { enabled = ModemSources(rawValue: mask) }
        if let signals = properties["SignalsLocation"].flatMap({ Bool($0.value) }) { signalsLocation = signals }
        for (user, use) in uses where use.refusal != nil && enabled.isSuperset(of: use.sources) {
            uses[user]?.refusal = nil
        }
    }

    // MARK: Switching

    /// Wants `sources` to be on for `user` from now on, instead of what it wanted before.
    func use(_ sources: ModemSources, for user: String) {
        guard uses[user, default: Use()].sources != sources else { return }
        uses[user, default: Use()].sources = sources
        followProperties()
        settle()
    }

    /// Whether what `user` wants is on.
    func isOn(for user: String) -> Bool {
        guard let sources = uses[user]?.sources, !sources.isEmpty else { return false }
        return enabled.isSuperset(of: sources)
    }

    /// Whether nothing is known that keeps the modem from doing what `user` wants.
    func serves(_ user: String) -> Bool { uses[user]?.refusal == nil && !reading.hasFailed }

    /// Takes the next step towards what is wanted at the end of the loop's turn, so that sources which start or stop
    /// together are one call.
    private func settle() {
        guard !willStep else { return }
        willStep = true
        EventLoop.shared.defer { [weak self] in
            self?.willStep = false
            self?.step()
        }
    }

    private func step() {
        guard !isSettingUp, !isGone else { return }
        retry = nil
        let now = clock.now
        let missing = uses.filter { !enabled.isSuperset(of: $1.sources) }
        let wanted = uses.values.reduce(into: ModemSources()) { $0.formUnion($1.sources) }
        let surplus = ours.intersection(enabled).subtracting(wanted)
        let moments = missing.values.map(\.notBefore) + (surplus.isEmpty ? [] : [returnNotBefore])
        guard let moment = moments.min() else { return }
        guard moment <= now else {
            retry = clock.after(moment - now) { [weak self] in self?.step() }
            return
        }
        var change = Change(
            users: missing.filter { $1.notBefore <= now }.keys.sorted(), removed: returnNotBefore <= now ? surplus : [])
        if takesOneAtATime { change.users = change.removed.isEmpty ? Array(change.users.prefix(1)) : [] }
        for user in change.users { change.added.formUnion(missing[user]?.sources ?? []) }
        change.added.subtract(enabled)
        setUp(change)
    }

    private func setUp(_ change: Change) {
        isSettingUp = true
        // Even where no answer comes, the call may have come into effect.
        ours.formUnion(change.added)
        let mask = enabled.union(change.added).subtracting(change.removed)
        ServiceActor.start { [weak self] in
            let problem = await self?.callSetUp(mask)
            self?.hasSetUp(change, problem)
        }
    }

    /// - Returns: what has kept ModemManager from doing it.
    private func callSetUp(_ mask: ModemSources) async -> BusError? {
        let call = Message.methodCall(to: manager, path, Self.interface, "Setup")
        do throws(WriteError) { try call.append(mask.rawValue, signalsLocation) } catch { return error.busError }
        do throws(BusError) {
            _ = try await connection.call(call)
            return nil
        } catch {
            return error
        }
    }

    private func hasSetUp(_ change: Change, _ problem: BusError?) {
        isSettingUp = false
        guard !isGone else { return }
        if problem == nil {
            enabled = enabled.union(change.added).subtracting(change.removed)
        } else if problem != .noReply {
            ours.subtract(change.added)
        }
        if let problem, change.isCompound, Self.incompatible.contains(problem.name) {
            takesOneAtATime = true
        } else {
            if !change.users.isEmpty { note(problem, for: change.users) }
            if !change.removed.isEmpty { noteReturn(problem) }
        }
        settle()
        changed()
    }

    private func note(_ problem: BusError?, for users: [String]) {
        let changed = users.filter { (uses[$0]?.refusal == nil) != (problem == nil) }
        for user in users {
            uses[user]?.refusal = problem?.name
            uses[user]?.triedAt = clock.now
            uses[user]?.notBefore = clock.now + (problem == nil ? Self.spacing : Self.rest)
        }
        guard !changed.isEmpty else { return }
        let names = changed.joined(separator: ", ")
        if let problem {
            Log.notice("\(names): \(path): not switched on: \(problem.message.prefix(200)); trying again now and then")
        } else {
            Log.info("\(names): \(path): switched on")
        }
    }

    private func noteReturn(_ problem: BusError?) {
        returnNotBefore = problem == nil ? .zero : clock.now + Self.rest
        if let problem, !hasLoggedReturn {
            Log.notice("\(path): not switched off: \(problem.message.prefix(200)); trying again now and then")
        }
        hasLoggedReturn = problem != nil
    }

    // MARK: Properties

    /// Follows the modem's properties only while it is in use: the signal's strength changes all the time.
    private func followProperties() {
        guard uses.values.contains(where: { !$0.sources.isEmpty }) else { return propertyChanges = nil }
        guard propertyChanges == nil else { return }
        let rule = MatchRule.propertiesChanged(of: nil, at: path, from: manager)
        propertyChanges = connection.subscribe(to: rule) { [weak self] in self?.receive($0) }
    }

    private func receive(_ signal: Message) {
        guard
            let (interface, properties) = try? signal.read(
                as: String.self, [String: Variant].self, sizeLimit: Self.largestPosition)
        else { return }
        // Those of the interface for locations come by way of the directory.
        guard interface != Self.interface.string else { return }
        if interface == Self.modem.string, let state = properties["State"].flatMap({ Int32($0.value) }),
            state >= Self.enabledState
        {
            becameEnabled()
        }
        signs.notify()
    }

    private func becameEnabled() {
        for (user, use) in uses where use.refusal == Self.wrongState {
            uses[user]?.notBefore = (use.triedAt ?? .zero) + Self.spacing
        }
        settle()
    }

    // MARK: Reading

    /// When ``read()`` asks the modem again, rather than giving up at once.
    var readableFrom: Duration { reading.notBefore }

    /// What the modem tells of where it is, by source; `nil` if it gives no answer.
    func read() async -> [ModemSources: Value]? {
        guard !isGone, clock.now >= reading.notBefore else { return nil }
        do throws(BusError) {
            let call = Message.methodCall(to: manager, path, Self.interface, "GetLocation")
            let values = try Self.values(in: await connection.call(call, timeout: Self.patience))
            hasRead(nil)
            return values
        } catch {
            hasRead(error)
            return nil
        }
    }

    private func hasRead(_ problem: BusError?) {
        guard !isGone else { return }
        if let problem { reading.notBefore = clock.now + (problem == .noReply ? Self.spacing : Self.rest) }
        guard reading.hasFailed != (problem != nil) else { return }
        reading.hasFailed = problem != nil
        if let problem {
            Log.notice("\(path): no position: \(problem.message.prefix(200)); trying again now and then")
        } else {
            Log.info("\(path): tells its position again")
        }
        changed()
    }

    private static func values(in reply: Message) throws(BusError) -> [ModemSources: Value] {
        do {
            let entries = try reply.read(as: [UInt32: Variant].self, sizeLimit: largestPosition)
            return [ModemSources: Value](
                uniqueKeysWithValues: entries.map { (ModemSources(rawValue: $0), $1.value) })
        } catch {
            throw error.busError
        }
    }

    /// By which means the modem is connected now (`MMModemAccessTechnology`).
    func accessTechnologies() async -> UInt32? {
        let value = try? await connection.call(
            manager, path, .properties, "Get", Self.modem.string, "AccessTechnologies", returning: Variant.self,
            timeout: Self.patience)
        return value.flatMap { UInt32($0.value) }
    }
}

extension Int32 {
    fileprivate init?(_ value: Value) {
        guard case .int32(let content) = value else { return nil }
        self = content
    }
}
