/// What the configuration says about access, as one value that is handed over at start and at each reload.
package struct AccessPolicy: Sendable, Hashable {
    /// What happens to unsandboxed callers about whom nothing was decided.
    package enum UnsandboxedApps: String, Sendable, Hashable, CaseIterable {
        case allow, ask, deny
    }

    /// A section of the configuration that bears an application's id.
    package struct ApplicationRule: Sendable, Hashable {
        /// `nil` if the section decides nothing.
        package var isAllowed: Bool?
        /// Whether its use is not shown as use.
        package var isSystemComponent: Bool
        /// The users whom `isAllowed` lets in; `nil` for all.
        package var userIDs: Set<UInt32>?

        package init(isAllowed: Bool? = nil, isSystemComponent: Bool = false, userIDs: Set<UInt32>? = nil) {
            self.isAllowed = isAllowed
            self.isSystemComponent = isSystemComponent
            self.userIDs = userIDs
        }

        /// - Returns: `nil` if the section decides nothing.
        package func permits(_ userID: UInt32) -> Bool? {
            isAllowed.map { $0 && userIDs?.contains(userID) ?? true }
        }
    }

    package var unsandboxedApps: UnsandboxedApps
    /// How long a question waits for an agent to come.
    package var agentWait: Duration
    /// Rules by application id, as the sections are named.
    package var applications: [String: ApplicationRule]
    /// Ids that an agent may register under.
    package var agentIDs: Set<String>
    /// Ids of agents that keep the user's answers themselves, and so are asked each time.
    package var rememberingAgentIDs: Set<String>

    package init(
        unsandboxedApps: UnsandboxedApps = .allow, agentWait: Duration = .seconds(5),
        applications: [String: ApplicationRule] = [:], agentIDs: Set<String> = [],
        rememberingAgentIDs: Set<String> = []
    ) {
        self.unsandboxedApps = unsandboxedApps
        self.agentWait = agentWait
        self.applications = applications
        self.agentIDs = agentIDs
        self.rememberingAgentIDs = rememberingAgentIDs
    }

    /// The rule for an application, whether its section is named with `.desktop` or without.
    package func rule(for application: ApplicationIdentity) -> ApplicationRule? {
        if applications.isEmpty { return nil }
        return applications[application.id] ?? applications["\(application.id).desktop"]
    }

    /// Whether an application is part of the system, so that its use is not shown as use.
    ///
    /// What an unnamed sandbox says of itself does not make it one.
    package func isSystemComponent(_ application: ApplicationIdentity) -> Bool {
        application.trust != .unknown && rule(for: application)?.isSystemComponent == true
    }

    /// Whether a program may act as an agent under `id`, which it has chosen itself.
    package func admitAgent(_ id: String, from origin: ProcessOrigin) throws(AgentRefusal) {
        guard !origin.isSandboxed else { throw .sandboxed(id: id) }
        guard agentIDs.contains(id) else { throw .notListed(id: id) }
    }
}
