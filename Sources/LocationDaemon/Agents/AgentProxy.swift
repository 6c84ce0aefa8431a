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
    nonisolated let origin: ProcessOrigin

    private let connection: Connection
    private let calls: AgentCalls
    private let sessions: SessionDirectory
    private let clock: any Clock
    private var nextReading: Timer?
    private var ceilingChanges: Subscription?
    /// The questions that it has not answered, and those of them whose answers nobody waits for any more.
    private var unanswered: Set<UInt64> = []
    private var withdrawn: Set<UInt64> = []

    /// How many withdrawn questions it may leave unanswered before it is given no further ones.
    static let withdrawnLimit = 8

    /// When a ceiling is read that could not be for other agents' sake.
    private static let rest = Duration.seconds(10)

    init(
        id: String, peer: Peer, connection: Connection, calls: AgentCalls, sessions: SessionDirectory, clock: any Clock
    ) {
        self.id = id
        self.userID = peer.userID
        self.peer = peer.name
        origin = peer.origin
        self.connection = connection
        self.calls = calls
        self.sessions = sessions
        self.clock = clock
    }

    /// Reads the agent's ceiling, and follows its changes from then on.
    ///
    /// - Parameters:
    ///   - changed: called with each ceiling that the agent really sent.
    ///   - finished: called once the first one has been read, or could not be.
    func followCeiling(
        changed: @escaping @ServiceActor (AccuracyLevel) -> Void, finished: @escaping @ServiceActor () -> Void
    ) {
        let rule = MatchRule.propertiesChanged(of: GeoClueNames.agent, at: GeoClueNames.agentPath, from: peer)
        ceilingChanges = connection.subscribe(to: rule) { signal in
            guard let (_, values) = try? signal.read(as: String.self, [String: Variant].self) else { return }
            if let level = Self.ceiling(in: values) { changed(level) }
        }
        readCeiling(changed: changed, finished: finished)
    }

    private func readCeiling(
        changed: @escaping @ServiceActor (AccuracyLevel) -> Void, finished: @escaping @ServiceActor () -> Void
    ) {
        ServiceActor.start { [self] in
            let quota = calls.ceilings(hasSession: await sessions.hasSession(userID))
            do throws(BusError) {
                try quota.begin(to: userID)
            } catch {
                // Said once, however often it comes to that.
                if nextReading == nil {
                    Log.info("an agent of user \(userID) is asked for its limit later: \(error.message)")
                }
                nextReading = clock.after(Self.rest) { [weak self] in
                    self?.readCeiling(changed: changed, finished: finished)
                }
                return finished()
            }
            defer { quota.end(to: userID) }
            do throws(BusError) {
                let values = try await connection.call(
                    peer, GeoClueNames.agentPath, .properties, "GetAll", GeoClueNames.agent.string,
                    returning: [String: Variant].self, timeout: nil)
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
        guard withdrawn.count < Self.withdrawnLimit else {
            throw BusError.limitsExceeded("the agent has not answered \(withdrawn.count) earlier questions")
        }
        unanswered.insert(question.token)
        // A task of its own, which goes on when nobody waits for the answer any more: only that ends the call.
        return try await ServiceActor.task { [self] in
            defer {
                unanswered.remove(question.token)
                withdrawn.remove(question.token)
            }
            return try await ask(question)
        }.value
    }

    private func ask(_ question: AgentQuestion) async throws -> AgentAnswer {
        do {
            try calls.questions.begin(to: userID)
            defer { calls.questions.end(to: userID) }
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
    func withdraw(_ question: AgentQuestion) {
        if unanswered.contains(question.token) { withdrawn.insert(question.token) }
    }
}
