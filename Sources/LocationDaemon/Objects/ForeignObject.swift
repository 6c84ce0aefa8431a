import DBus
import EventLoop

/// What another user finds in the place of an object, whether there is one or not.
final class ForeignObject<Owner: OwnedObject>: BusObject {
    private let interface: Interface<Owner>

    init(_ interface: Interface<Owner>) { self.interface = interface }

    var interfaces: [any ServedInterface] { [Refused(interface, with: ServiceError.notOwner.busError)] }
}
