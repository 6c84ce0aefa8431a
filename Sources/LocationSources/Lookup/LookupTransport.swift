import EventLoop
import LookupProtocol

/// Carries requests to lookup services; the one way out of the machine.
@ServiceActor
package protocol LookupTransport: AnyObject, Sendable {
    /// Until when it carries nothing, as time since boot, since it has failed itself; `nil` if it has not, or may be tried
    /// again. A request that has failed when this is set says nothing about whom it was for.
    var rest: Duration? { get }

    /// Always ends, with a failure after a limit of its own. A cancelled task ends its request at once.
    func send(_ request: LookupRequest) async -> LookupOutcome
}
