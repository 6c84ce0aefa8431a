import DBus
import EventLoop

/// Follows the modems that may tell where they are, as long as there is a ModemManager. One for all sources.
///
/// ModemManager is never started for it: nothing is sent but to the connection that has its name.
@ServiceActor
package final class ModemDirectory {
    /// In the order in which they came.
    package private(set) var modems: [ModemLocation] = []

    /// More than any machine has; what comes beyond is ignored.
    static let mostModems = 8
    /// So many are taken up within ``ModemLocation/rest``, for a modem that falls off the bus and is found again has
    /// another path each time. It takes all modems and a ModemManager that starts anew.
    static let mostArrivals = 2 * mostModems
    /// Between attempts to learn which modems there are.
    private static let waits = Reconnect.Waits(first: .seconds(5), limit: .seconds(300))
    private static let patience = Duration.seconds(10)
    /// What ModemManager's word may take in memory, in bytes: a modem has some hundred properties.
    private static let largestReply = 1 << 20

    private static let service: BusName = "org.freedesktop.ModemManager1"
    private static let root: ObjectPath = "/org/freedesktop/ModemManager1"
    private static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"

    private typealias Interfaces = [String: [String: Variant]]

    private let connection: Connection
    private let clock: any Clock
    private let observers = Observers()

    private var ownerWatch: Subscription?
    private var signals: [Subscription] = []
    /// Which ModemManager is being followed; answers of one before count no more.
    private var manager: BusName?
    private var retry: Timer?
    private var failures = 0
    private var complaint = Complaint()
    /// When the last modems were taken up, whatever has become of them.
    private var arrivals: [Duration] = []

    /// - Parameter connection: to the bus that ModemManager is on.
    package init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

    /// Starts following, once.
    package func start() {
        guard ownerWatch == nil else { return }
        ownerWatch = connection.followOwner(of: Self.service) { [weak self] in self?.managerChanged(to: $0) }
    }

    /// Calls `handler` when the modems, or what is known of one, may have changed, until the observation is let go.
    func observe(_ handler: @escaping @ServiceActor () -> Void) -> Observation { observers.add(handler) }

    /// Asks again at once, if ModemManager has not answered yet: somebody needs to know.
    func hurry() {
        guard retry != nil, let manager else { return }
        failures = 0
        load(from: manager)
    }

    private func managerChanged(to name: BusName?) {
        guard name != manager else { return }
        let known = modems
        (manager, modems, signals, retry, failures) = (name, [], [], nil, 0)
        for modem in known { modem.gone() }
        if !known.isEmpty { observers.notify() }
        guard let name, manager == name else { return }
        // Before the first question, so that nothing is missed in between.
        signals = [
            MatchRule(sender: name, path: Self.root, interface: Self.objectManager),
            MatchRule.propertiesChanged(of: ModemLocation.interface, from: name),
        ].map { rule in connection.subscribe(to: rule) { [weak self] in self?.receive($0) } }
        load(from: name)
    }

    // MARK: Objects

    private func load(from name: BusName) {
        retry = nil
        ServiceActor.start { [weak self] in await self?.askForObjects(name) }
    }

    private func askForObjects(_ name: BusName) async {
        do throws(BusError) {
            let call = Message.methodCall(to: name, Self.root, Self.objectManager, "GetManagedObjects")
            let objects = try Self.objects(in: await connection.call(call, timeout: Self.patience))
            guard manager == name else { return }
            complaint.settle("ModemManager answers")
            failures = 0
            for (path, interfaces) in objects.sorted(by: { $0.key < $1.key }) { add(path, interfaces) }
            observers.notify()
        } catch {
            guard manager == name else { return }
            complaint.raise("ModemManager does not say which modems there are: \(error.message.prefix(200))")
            retry = clock.after(Self.waits.wait(failures)) { [weak self] in self?.load(from: name) }
            failures += 1
        }
    }

    private static func objects(in reply: Message) throws(BusError) -> [ObjectPath: Interfaces] {
        do {
            return try reply.read(as: [ObjectPath: Interfaces].self, sizeLimit: largestReply)
        } catch {
            throw error.busError
        }
    }

    private func add(_ path: ObjectPath, _ interfaces: Interfaces) {
        guard let manager, let properties = interfaces[ModemLocation.interface.string] else { return }
        if let known = modem(at: path) { return known.take(properties) }
        guard modems.count < Self.mostModems else { return }
        arrivals.removeAll { $0 + ModemLocation.rest <= clock.now }
        guard arrivals.count < Self.mostArrivals else {
            // Which there are is known by then.
            let wait = arrivals[0] + ModemLocation.rest - clock.now
            return retry = retry ?? clock.after(wait) { [weak self] in self?.load(from: manager) }
        }
        arrivals.append(clock.now)
        modems.append(
            ModemLocation(path, properties, of: manager, over: connection, clock: clock) { [observers] in
                observers.notify()
            })
    }

    private func remove(_ path: ObjectPath) {
        guard let index = modems.firstIndex(where: { $0.path == path }) else { return }
        modems.remove(at: index).gone()
    }

    private func modem(at path: ObjectPath) -> ModemLocation? { modems.first { $0.path == path } }

    // MARK: Signals

    private func receive(_ signal: Message) {
        switch signal.member {
        case "InterfacesAdded":
            guard
                let (path, interfaces) = try? signal.read(
                    as: ObjectPath.self, Interfaces.self, sizeLimit: Self.largestReply)
            else { return }
            add(path, interfaces)
            observers.notify()
        case "InterfacesRemoved":
            guard let (path, interfaces) = try? signal.read(as: ObjectPath.self, [String].self),
                interfaces.contains(ModemLocation.interface.string)
            else { return }
            remove(path)
            observers.notify()
        case "PropertiesChanged":
            guard let path = signal.path, let modem = modem(at: path),
                let (_, properties) = try? signal.read(
                    as: String.self, [String: Variant].self, sizeLimit: Self.largestReply)
            else { return }
            modem.take(properties)
        default: break
        }
    }
}
