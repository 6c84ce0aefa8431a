import Authorization
import DBus
import EventLoop
import GeoClueAPI
import Geolocation

/// An agent on the bus, by the interface that GeoClue's agents have.
final class AgentProxy: Agent {
    nonisolated let id: String
    nonisolated let userID: UInt32
    nonisolated let peer: BusName

    private let connection: Connection
    private var ceilingChanges: Subscription?

    init(id: String, peer: Peer, connection: Connection) {
        self.id = id
        self.userID = peer.userID
        self.peer = peer.name
        self.connection = connection
    }

    /// Reads the agent's ceiling, and follows its changes from then on.
    ///
    /// - Parameters:
    ///   - changed: called with each ceiling that the agent really sent.
    ///   - finished: called once the first one has been read, or could not be.
    func followCeiling(
        changed: @escaping @ServiceActor (AccuracyLevel) -> Void, finished: @escaping @ServiceActor () -> Void
    ) {
        let rule = MatchRule(
            sender: peer, path: GeoClueNames.agentPath, interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", argument0: GeoClueNames.agent.string)
        ceilingChanges = connection.subscribe(to: rule) { signal in
            guard let (_, values) = try? signal.read(as: String.self, [String: Variant].self) else { return }
            if let level = Self.ceiling(in: values) { changed(level) }
        }
        ServiceActor.start { [self] in
            do throws(BusError) {
                let values = try await connection.call(
                    peer, GeoClueNames.agentPath, "org.freedesktop.DBus.Properties", "GetAll",
                    GeoClueNames.agent.string,
                    returning: [String: Variant].self)
                if let level = Self.ceiling(in: values) { changed(level) }
            } catch {
                Log.info("an agent of user \(userID) does not say how fine positions may be: \(error.name)")
            }
            finished()
        }
    }

    private static func ceiling(in values: [String: Variant]) -> AccuracyLevel? {
        guard case .uint32(let level)? = values["MaxAccuracyLevel"]?.value else { return nil }
        return AccuracyLevel(wire: level)
    }

    // MARK: Agent

    func authorize(_ question: AgentQuestion) async throws -> AgentAnswer {
        do {
            // A person may take any time; whoever asks sets the limit.
            let (isAllowed, level) = try await connection.call(
                peer, GeoClueNames.agentPath, GeoClueNames.agent, "AuthorizeApp", question.application.id,
                question.level.rawValue, returning: Bool.self, UInt32.self, timeout: nil)
            return AgentAnswer(isAllowed: isAllowed, level: AccuracyLevel(wire: level))
        } catch  where error.name == BusError.noReply.name {
            // The bus answers for a peer that has left.
            throw AgentGone()
        }
    }

    /// The interface has no way to say so; the answer goes unheard.
    func withdraw(_ question: AgentQuestion) {}
}
