import DBus
import EventLoop

extension Access {
    /// Callers outside of any sandbox. One that cannot be told from a sandboxed one counts as such.
    static func unsandboxed(_ peers: @escaping @Sendable @ServiceActor (Owner) -> PeerDirectory) -> Access {
        Access(caller: { owner, call in
            do throws(ServiceError) {
                let peer = try await peers(owner).peer(call.sender)
                return peer.origin.isSandboxed ? ServiceError.sandboxed.busError : nil
            } catch {
                return error.busError
            }
        })
    }
}
