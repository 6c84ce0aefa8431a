import KeyFile

/// What the configuration says about access, as one value that is handed over at start and at each reload.
package struct AccessPolicy: Sendable, Hashable {
    package typealias UnsandboxedApps = Configuration.Policy.UnsandboxedApps

    /// What happens to unsandboxed callers about whom nothing was decided.
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
        application.trust != .unknown && rule(for: application)?.isSystem == true
    }

    /// Whether a program may act as an agent under `id`, which it has chosen itself.
    package func admitAgent(_ id: String, from origin: ProcessOrigin) throws(AgentRefusal) {
        guard !origin.isSandboxed else { throw .sandboxed(id: id) }
        guard agentIDs.contains(id) else { throw .notListed(id: id) }
    }
}
