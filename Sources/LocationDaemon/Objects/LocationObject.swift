import Authorization
import DBus
import EventLoop
import GeoClueAPI
import Geolocation

/// One position that one client was given: `…/Client/3/Location/17`.
///
/// Made for the call that reads it; what it tells was disclosed before.
package final class LocationObject: BusObject {
    package static let interface = Interface<LocationObject>(GeoClueNames.location) {
        Property("Latitude", access: .owner) { $0.properties.latitude }
        Property("Longitude", access: .owner) { $0.properties.longitude }
        Property("Accuracy", access: .owner) { $0.properties.accuracy }
        Property("Altitude", access: .owner) { $0.properties.altitude }
        Property("Speed", access: .owner) { $0.properties.speed }
        Property("Heading", access: .owner) { $0.properties.heading }
        Property("Description", access: .owner) { $0.properties.description }
        Property("Timestamp", access: .owner) { $0.properties.timestamp }
    }

    package let owner: BusName
    private let properties: LocationProperties

    init(_ fix: DisclosedFix, owner: BusName) {
        self.owner = owner
        properties = LocationProperties(fix)
    }

    package var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }
}

extension LocationProperties {
    init(_ fix: DisclosedFix) {
        switch fix.content {
        case .full(let fix): self.init(fix)
        case .reduced(let coarse): self.init(coarse)
        }
    }
}

extension LocationObject {
    /// The properties whose values differ between two fixes, as `PropertiesChanged` has them.
    static func changes(from old: DisclosedFix, to new: DisclosedFix) -> [Value.Entry] {
        let (before, after) = (LocationProperties(old), LocationProperties(new))
        return before.changes(to: after).map { .init(key: .string($0.name), value: .variant($0.value)) }
    }
}

extension DisclosedFix {
    var coordinate: Coordinate {
        switch content {
        case .full(let fix): fix.coordinate
        case .reduced(let coarse): coarse.coordinate
        }
    }

    var timestamp: Timestamp {
        switch content {
        case .full(let fix): fix.timestamp
        case .reduced(let coarse): coarse.timestamp
        }
    }
}
