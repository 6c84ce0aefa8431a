import DBus
import EventLoop

/// Follows which services of a type are on the local network, by way of Avahi, as long as there is an Avahi.
///
/// Avahi is never started for it, and one that hangs is waited for: it answers when it goes on. Its interface: avahi.org, `org.freedesktop.Avahi.Server.xml` (0.8).
@ServiceActor
final class ServiceBrowser {
    enum Event {
        case found(name: String, host: String, port: UInt16, txt: [[UInt8]])
        case gone(name: String)
        /// Avahi has left, and with it all that it knew.
        case reset
    }

    private static let avahi: BusName = "org.freedesktop.Avahi"
    private static let server: InterfaceName = "org.freedesktop.Avahi.Server"
    private static let browser: InterfaceName = "org.freedesktop.Avahi.ServiceBrowser"
    private static let resolver: InterfaceName = "org.freedesktop.Avahi.ServiceResolver"
    /// Any network interface, any protocol (`AVAHI_IF_UNSPEC`, `AVAHI_PROTO_UNSPEC`).
    private static let any: Int32 = -1

    /// More questions than this are not open at a time: names cost a stranger nothing.
    private static let mostQuestions = 32

    /// A label of DNS has 63 bytes, escapes make it longer.
    private static let longestName = 255

    /// When Avahi is asked again for what it has refused.
    private static let waits = Reconnect.Waits(first: .seconds(5), limit: .seconds(300))

    private let type: String
    private let connection: Connection
    private let clock: any Clock
    private let handler: @ServiceActor (Event) -> Void

    private var owner: Subscription?
    private var signals: [Subscription] = []
    /// Which Avahi is being asked; answers of one before count no more.
    private var current: BusName?
    private var browsing: ObjectPath?
    private var resolving: [ObjectPath: Question] = [:]
    /// How many questions have no resolver yet.
    private var asking = 0
    /// Questions that have come to nothing, until the next attempt.
    private var unresolved: Set<Question> = []
    private var failures = 0
    private var complaint = Complaint()
    private var retry: Timer?
    /// On how many interfaces and protocols each name is to be had.
    private var sightings: [String: Int] = [:]

    /// Starts looking.
    ///
    /// - Parameter type: such as `_nmea-0183._tcp`.
    init(
        _ type: String, over connection: Connection, clock: any Clock, handler: @escaping @ServiceActor (Event) -> Void
    ) {
        self.type = type
        self.connection = connection
        self.clock = clock
        self.handler = handler
        owner = connection.followOwner(of: Self.avahi) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit {
        if let current, let browsing { connection.send(.methodCall(to: current, browsing, Self.browser, "Free")) }
    }

    private func ownerChanged(_ name: BusName?) {
        guard name != current else { return }
        if current != nil { handler(.reset) }
        (current, browsing, signals) = (name, nil, [])
        (resolving, asking, unresolved, sightings) = ([:], 0, [], [:])
        (failures, retry) = (0, nil)
        guard let name else { return }
        // Before the first question: answers may come right behind the reply.
        signals = [Self.browser, Self.resolver].map { interface in
            connection.subscribe(to: MatchRule(sender: name, interface: interface)) { [weak self] in self?.receive($0) }
        }
        ServiceActor.start { [weak self] in await self?.browse(name) }
    }

    private func browse(_ avahi: BusName) async {
        do throws(BusError) {
            let path = try await connection.call(
                avahi, .root, Self.server, "ServiceBrowserNew", Self.any, Self.any, type, "", UInt32(0),
                returning: ObjectPath.self, timeout: nil)
            guard current == avahi else { return }
            browsing = path
            failures = 0
            complaint.settle("looking for \(type) on the network again")
        } catch {
            guard current == avahi else { return }
            complaint.raise("cannot look for \(type) on the network: \(error.message.prefix(200))")
            tryAgainLater()
        }
    }

    private func tryAgainLater() {
        guard retry == nil else { return }
        retry = clock.after(Self.waits.wait(failures)) { [weak self] in self?.tryAgain() }
        failures += 1
    }

    private func tryAgain() {
        retry = nil
        guard let current else { return }
        if browsing == nil { ServiceActor.start { [weak self] in await self?.browse(current) } }
        let questions = unresolved
        unresolved = []
        for question in questions where sightings[question.name] != nil { resolve(question) }
    }

    // MARK: Signals

    private func receive(_ signal: Message) {
        guard let path = signal.path, let member = signal.member else { return }
        if path == browsing {
            guard
                let (interface, transport, name, type, domain) = try? signal.read(
                    as: Int32.self, Int32.self, String.self, String.self, String.self)
            else { return }
            switch member {
            case "ItemNew": appeared(Question(interface, transport, name, type, domain))
            case "ItemRemove": disappeared(name)
            default: break
            }
        } else if let question = resolving.removeValue(forKey: path) {
            if member == "Found" { found(signal) } else { failed(question) }
            connection.send(.methodCall(to: signal.sender ?? Self.avahi, path, Self.resolver, "Free"))
        }
    }

    /// What a resolver is asked for, in Avahi's order.
    private struct Question: Hashable {
        let interface, transport: Int32
        let name, type, domain: String

        init(_ interface: Int32, _ transport: Int32, _ name: String, _ type: String, _ domain: String) {
            (self.interface, self.transport) = (interface, transport)
            (self.name, self.type, self.domain) = (name, type, domain)
        }
    }

    private func appeared(_ question: Question) {
        guard question.name.utf8.count <= Self.longestName,
            sightings[question.name] != nil || sightings.count < Self.mostQuestions
        else { return }
        sightings[question.name, default: 0] += 1
        resolve(question)
    }

    private func resolve(_ question: Question) {
        guard let avahi = current else { return }
        guard resolving.count + asking < Self.mostQuestions else { return failed(question) }
        asking += 1
        ServiceActor.start { [weak self, connection] in
            // An address of the protocol it was heard over: of any, Avahi gives the one that it has first.
            let path = try? await connection.call(
                avahi, .root, Self.server, "ServiceResolverNew", question.interface, question.transport, question.name,
                question.type, question.domain, question.transport, UInt32(0), returning: ObjectPath.self, timeout: nil)
            guard let self, current == avahi else { return }
            asking -= 1
            if let path { resolving[path] = question } else { failed(question) }
        }
    }

    private func failed(_ question: Question) {
        guard unresolved.count < Self.mostQuestions else { return }
        unresolved.insert(question)
        tryAgainLater()
    }

    private func disappeared(_ name: String) {
        guard let count = sightings[name] else { return }
        sightings[name] = count > 1 ? count - 1 : nil
        if count == 1 { handler(.gone(name: name)) }
    }

    private func found(_ signal: Message) {
        guard
            let (_, _, name, _, _, _, _, host, port, txt, _) = try? signal.read(
                as: Int32.self, Int32.self, String.self, String.self, String.self, String.self, Int32.self,
                String.self, UInt16.self, [[UInt8]].self, UInt32.self, sizeLimit: 65536),
            sightings[name] != nil
        else { return }
        failures = 0
        handler(.found(name: name, host: host, port: port, txt: txt))
    }
}
