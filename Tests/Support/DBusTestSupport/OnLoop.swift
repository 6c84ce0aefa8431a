import EventLoop

/// Runs `body` without leaving the loop's thread, so that its steps keep their place among the loop's events.
package func onLoop<Success: Sendable>(
    _ body: @escaping @Sendable @ServiceActor () async throws -> Success
) async throws -> Success {
    try await ServiceActor.task(body).value
}
