import DBus
import EventLoop

/// An object that one connection owns and nobody else may use.
@ServiceActor
package protocol OwnedObject: AnyObject {
    var owner: BusName { get }
}

extension LocationObject: OwnedObject {}
extension ClientObject: OwnedObject {}

extension Access where Owner: OwnedObject {
    /// The connection that the object belongs to.
    package static var owner: Access {
        Access(sender: { $0.owner == $1 ? nil : ServiceError.notOwner.busError })
    }
}
