/// Keeps a task on the loop's thread where the actor alone would not.
///
/// A continuation resumes on its task's preferred executor. A task that has none goes on by way of a thread of the
/// pool, and comes back to the loop only after the events that follow.
final class LoopTaskExecutor: TaskExecutor {
    static let shared = LoopTaskExecutor()

    func enqueue(_ job: consuming ExecutorJob) { EventLoop.shared.enqueue(UnownedJob(job), prefersLoop: true) }
}
