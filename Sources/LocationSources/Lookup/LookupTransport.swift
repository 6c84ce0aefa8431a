import EventLoop
import LookupProtocol

/// Carries requests to lookup services; the one way out of the machine.
@ServiceActor
package protocol LookupTransport: AnyObject, Sendable {
    /// Always ends, with a failure after a limit of its own. A cancelled task ends its request at once.
    func send(_ request: LookupRequest) async -> LookupOutcome
}
