import DBus

/// The names of the GeoClue2 interface.
package enum GeoClueNames {
    package static let busName: BusName = "org.freedesktop.GeoClue2"

    package static let manager: InterfaceName = "org.freedesktop.GeoClue2.Manager"
    package static let client: InterfaceName = "org.freedesktop.GeoClue2.Client"
    package static let location: InterfaceName = "org.freedesktop.GeoClue2.Location"
    package static let agent: InterfaceName = "org.freedesktop.GeoClue2.Agent"

    package static let managerPath: ObjectPath = "/org/freedesktop/GeoClue2/Manager"
    /// Where an agent serves its object, on its own connection.
    package static let agentPath: ObjectPath = "/org/freedesktop/GeoClue2/Agent"
    /// The branch below which every client has its object, `…/Client/3`, and its locations, `…/Client/3/Location/17`.
    package static let clientBranch: ObjectPath = "/org/freedesktop/GeoClue2/Client"

    package static func clientPath(_ number: UInt64) -> ObjectPath { clientBranch.appending(String(number)) }

    package static func locationPath(_ number: UInt64, of client: ObjectPath) -> ObjectPath {
        ObjectPath(trusted: client.string + "/Location/" + String(number))
    }

    /// What a path below ``clientBranch`` names.
    package enum ClientBranchPath: Equatable {
        case client(UInt64)
        /// The node above a client's locations.
        case locations(client: UInt64)
        case location(UInt64, client: UInt64)

        /// - Returns: `nil` for paths that this service never hands out, such as `…/Client/007`.
        package init?(_ path: ObjectPath) {
            let prefix = clientBranch.string + "/"
            guard path.string.hasPrefix(prefix) else { return nil }
            let elements = path.string.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
            guard let first = elements.first, let client = Self.number(first) else { return nil }
            switch elements.count {
            case 1: self = .client(client)
            case 2 where elements[1] == "Location": self = .locations(client: client)
            case 3 where elements[1] == "Location":
                guard let location = Self.number(elements[2]) else { return nil }
                self = .location(location, client: client)
            default: return nil
            }
        }

        private static func number(_ text: Substring) -> UInt64? {
            guard let number = UInt64(text), String(number) == text else { return nil }
            return number
        }
    }
}
