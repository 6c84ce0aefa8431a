import EventLoop

/// The calls that wait for their replies, each with its deadline. Each is resumed exactly once.
@ServiceActor
final class PendingReplies {
    private struct Call {
        let continuation: CheckedContinuation<Result<Message, BusError>, Never>
        let deadline: Timer?
    }

    private var calls: [UInt32: Call] = [:]

    func add(
        _ serial: UInt32, deadline: Timer?, _ continuation: CheckedContinuation<Result<Message, BusError>, Never>
    ) {
        calls[serial] = Call(continuation: continuation, deadline: deadline)
    }

    /// Hands a reply to the call it belongs to, if that still waits.
    func deliver(_ reply: Message) {
        if reply.kind == .error {
            let text = try? reply.read(as: String.self)
            finish(
                reply.replySerial,
                .failure(BusError(reply.errorName ?? "org.freedesktop.DBus.Error.Failed", text ?? "")))
        } else {
            finish(reply.replySerial, .success(reply))
        }
    }

    func finish(_ serial: UInt32, _ result: Result<Message, BusError>) {
        guard let call = calls.removeValue(forKey: serial) else { return }
        call.deadline?.cancel()
        call.continuation.resume(returning: result)
    }

    func finishAll(_ error: BusError) {
        for serial in calls.keys { finish(serial, .failure(error)) }
    }
}
