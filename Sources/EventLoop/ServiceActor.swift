/// The actor of everything that lives on the daemon's loop: what is served on the bus, the sources, the positioner.
///
/// Its executor is ``EventLoop/shared``, so a job of this actor runs on the loop's thread and a fix crosses no thread
/// on its way from the receiver to the signal.
@globalActor
package actor ServiceActor {
    package static let shared = ServiceActor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

    /// Runs `body` at once, from code on the loop's thread that the compiler does not know to be there (a C callback).
    ///
    /// Traps anywhere else.
    package static func assumeIsolated<Result: Sendable>(_ body: @ServiceActor () throws -> Result) rethrows -> Result {
        shared.preconditionIsolated()
        return try withoutActuallyEscaping(body) { escapable in
            try unsafeBitCast(escapable as @ServiceActor () throws -> Result, to: (() throws -> Result).self)()
        }
    }

    /// Starts a task in place: `body` runs at once until it really waits, and goes on on the loop.
    ///
    /// A continuation resumes its task on the task's preferred executor, from where it finds its way back to its actor.
    /// Without a preference that is the runtime's pool, at the price of two thread switches.
    @ServiceActor
    @discardableResult
    package static func start(_ body: sending @escaping @ServiceActor () async -> Void) -> Task<Void, Never> {
        Task.immediate(executorPreference: EventLoop.shared.tasks, operation: body)
    }
}
