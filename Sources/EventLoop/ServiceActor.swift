/// The actor of everything that lives on the daemon's loop: what is served on the bus, the sources, the positioner.
///
/// Its executor is ``EventLoop/shared``, so a job of this actor runs on the loop's thread and a fix crosses no thread
/// on its way from the receiver to the signal.
@globalActor
package actor ServiceActor {
    package static let shared = ServiceActor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

    /// Starts a task of which no step leaves the loop's thread. For whatever is to keep its place among other events.
    @discardableResult
    package static nonisolated func task<Success: Sendable>(
        _ operation: @escaping @Sendable @ServiceActor () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: LoopTaskExecutor.shared, operation: operation)
    }

    /// As ``task(_:)``, for what may throw.
    @discardableResult
    package static nonisolated func task<Success: Sendable>(
        _ operation: @escaping @Sendable @ServiceActor () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: LoopTaskExecutor.shared, operation: operation)
    }

    /// Runs `body` at once, from code on the loop's thread that the compiler does not know to be there (a C callback).
    ///
    /// Traps anywhere else.
    package static func assumeIsolated<Result: Sendable>(_ body: @ServiceActor () throws -> Result) rethrows -> Result {
        shared.preconditionIsolated()
        return try withoutActuallyEscaping(body) { escapable in
            try unsafeBitCast(escapable as @ServiceActor () throws -> Result, to: (() throws -> Result).self)()
        }
    }

    /// Starts a task that begins, and goes on each time, before the loop's next event.
    ///
    /// As ``task(_:)``, no step of it leaves the loop's thread.
    @ServiceActor
    @discardableResult
    package static func start(_ body: sending @escaping @ServiceActor () async -> Void) -> Task<Void, Never> {
        Task.immediate(executorPreference: LoopTaskExecutor.shared, operation: body)
    }
}
