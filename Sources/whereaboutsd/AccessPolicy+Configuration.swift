import Authorization
import KeyFile

extension AccessPolicy {
    /// What a configuration says about access.
    init(_ configuration: Configuration) {
        let unsandboxedApps: UnsandboxedApps =
            switch configuration.policy.unsandboxedApps {
            case .allow: .allow
            case .ask: .ask
            case .deny: .deny
            }
        self.init(
            unsandboxedApps: unsandboxedApps, agentWait: .seconds(configuration.policy.agentWait),
            applications: configuration.applications.mapValues {
                ApplicationRule(isAllowed: $0.isAllowed, isSystemComponent: $0.isSystem, userIDs: $0.users)
            },
            agentIDs: configuration.agent.whitelist, rememberingAgentIDs: configuration.agent.remembers)
    }
}
