import Authorization
import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Geolocation
import KeyFile
import LocationTestSupport
import Positioning
import Testing

@testable import LocationDaemon

/// The whole service on a bus of its own, with a receiver, a clock and callers that a test drives.
@ServiceActor
final class Lab {
    /// Where the receiver is, by default.
    static nonisolated let place = [48.137154, 11.576124]

    let bus: PrivateBus
    let clock = ManualClock()
    let receiver: ScriptedSource
    let positioner: Positioner
    let authorizer: Authorizer
    let store: any RecordStore
    let service: Service
    let control: ControlObject

    private let serviceConnection: Connection
    private let controlConnection: Connection
    private let identities: Identities

    /// Whom the service takes a connection for.
    private final class Identities {
        var peers: [BusName: Peer] = [:]
    }

    /// - Parameter deadlinesByClock: whether the service's own calls have their deadlines by ``clock``, too.
    init(
        _ policy: AccessPolicy = Lab.policy(), store: (any RecordStore)? = nil,
        others: (ManualClock) -> [ScriptedSource] = { _ in [] }, bus: PrivateBus? = nil, deadlinesByClock: Bool = false,
        grace: Duration = .zero
    ) async throws {
        let bus = if let bus { bus } else { try await PrivateBus() }
        self.bus = bus
        receiver = ScriptedSource("receiver", stopGrace: grace, clock: clock)
        positioner = Positioner(sources: [receiver] + others(clock), clock: clock)
        self.store = store ?? MemoryRecordStore()
        authorizer = Authorizer(policy: policy, store: self.store, clock: clock)
        serviceConnection = try bus.connect(clock: deadlinesByClock ? clock : LoopClock.shared)
        controlConnection = try bus.connect()
        let identities = Identities()
        self.identities = identities
        let identify: Identification = { connection, name throws(BusError) in
            if let peer = identities.peers[name] { return peer }
            return try await Peer.identify(connection, name)
        }
        service = Service(
            connection: serviceConnection, positioner: positioner, authorizer: authorizer, idleTime: nil, clock: clock,
            identify: identify)
        control = ControlObject(
            connection: controlConnection, authorizer: authorizer, clock: clock, identify: identify)
        try await serviceConnection.takeName(GeoClueNames.busName)
        try await controlConnection.takeName(WhereaboutsNames.controlBusName)
        service.start()
    }

    static nonisolated func policy(
        _ unsandboxedApps: AccessPolicy.UnsandboxedApps = .allow, agentWait: Duration = .seconds(5),
        applications: [String: ApplicationRule] = [:]
    ) -> AccessPolicy {
        AccessPolicy(
            unsandboxedApps: unsandboxedApps, agentWait: agentWait, applications: applications,
            agentIDs: ["shell", "other"])
    }

    /// A connection that the service takes for a program of `user`.
    func connect(_ user: UInt32 = 1000, _ facts: ProcessFacts = .plain) throws -> Connection {
        let connection = try bus.connect()
        identities.peers[connection.uniqueName] = Peer(
            name: connection.uniqueName, userID: user,
            origin: ProcessOrigin(facts))
        return connection
    }

    /// An application with one client.
    func app(
        _ id: String? = "org.example.Maps", of user: UInt32 = 1000, _ facts: ProcessFacts = .plain,
        level: AccuracyLevel = .exact
    ) async throws -> App {
        let app = try await App(connect(user, facts))
        if let id { try await app.set("DesktopId", .string(id)) }
        try await app.set("RequestedAccuracyLevel", .uint32(level.rawValue))
        return app
    }

    /// An application that has been started, and has been told ``place``.
    func running(_ id: String = "org.example.Maps", of user: UInt32 = 1000) async throws -> App {
        let app = try await app(id, of: user)
        try await app.start()
        await receiver.demanded()
        receiver.send(Self.place[0], Self.place[1])
        #expect(try await app.nextPlace() == Self.place)
        return app
    }

    func agent(_ id: String = "shell", of user: UInt32 = 1000, ceiling: AccuracyLevel = .exact) async throws -> BusAgent
    {
        let agent = BusAgent(try connect(user), ceiling: ceiling)
        try await agent.register(id)
        return agent
    }

    func administrator(of user: UInt32 = 1000, _ facts: ProcessFacts = .plain) throws -> Administrator {
        Administrator(try connect(user, facts))
    }

    /// Comes back once what was sent so far has been dealt with, on the service's side and on the caller's.
    func settle(_ connection: Connection) async throws {
        try await serviceConnection.settle()
        try await controlConnection.settle()
        try await connection.settle()
        await clock.settle()
    }

    var isCongested: Bool { serviceConnection.isCongested }

    /// Sends the bus, which is to be paused, more than it takes.
    func congest() throws {
        let filler = String(repeating: "x", count: 1 << 20)
        while !isCongested {
            try serviceConnection.emit("/", "org.example.Test", "Filler", to: serviceConnection.uniqueName, filler)
        }
    }

    var isInUse: Bool {
        get async throws {
            let value = try await serviceConnection.call(
                GeoClueNames.busName, GeoClueNames.managerPath, "org.freedesktop.DBus.Properties", "Get",
                GeoClueNames.manager.string, "InUse", returning: Variant.self)
            return value.value == .bool(true)
        }
    }
}

extension ProcessFacts {
    /// A program that nothing names.
    static let plain = ProcessFacts(
        cgroup: "0::/user.slice/user-1000.slice/session-1.scope\n", namespaceProcessIDs: "1")

    static func flatpak(_ id: String) -> ProcessFacts {
        ProcessFacts(
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-\(id)-77.scope\n",
            namespaceProcessIDs: "1")
    }

    /// A program of which nothing could be read.
    static let hidden = ProcessFacts(cgroup: nil, namespaceProcessIDs: nil)
}

/// As tests that are given one are called in the log.
extension ProcessFacts: CustomTestStringConvertible {
    package var testDescription: String { cgroup.map { Sample($0).description } ?? "hidden" }
}
