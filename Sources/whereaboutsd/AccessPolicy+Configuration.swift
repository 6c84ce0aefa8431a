import Authorization
import KeyFile

extension AccessPolicy {
    /// What a configuration says about access.
    init(_ configuration: Configuration) {
        self.init(
            unsandboxedApps: configuration.policy.unsandboxedApps, agentWait: .seconds(configuration.policy.agentWait),
            applications: configuration.applications, agentIDs: configuration.agent.whitelist,
            rememberingAgentIDs: configuration.agent.remembers)
    }
}
