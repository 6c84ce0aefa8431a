import Authorization

/// An agent in the test's own process, of which only the ceiling counts.
final class SilentAgent: Agent {
    let id = "shell"
    let userID: UInt32 = 1000

    func authorize(_ question: AgentQuestion) async throws -> AgentAnswer { throw AgentGone() }

    func withdraw(_ question: AgentQuestion) {}
}
