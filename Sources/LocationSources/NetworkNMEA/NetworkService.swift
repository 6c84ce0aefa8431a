import Geolocation

/// A stranger's offer of NMEA sentences on the local network.
struct NetworkService: Sendable, Hashable {
    /// The name it is announced under, at each of its addresses.
    let name: String
    let address: StreamAddress
    /// How finely it says that it knows the place.
    let level: AccuracyLevel

    /// Radius in metres below which none of its fixes is believed: a stranger may be across the street at best.
    var accuracyFloor: Double { level.coarseRadius ?? 50 }

    /// - Parameter txt: the entries of its TXT record, `key=value` each.
    /// - Returns: `nil` where there is nothing to connect to, or nothing to be had.
    init?(name: String, host: String, port: UInt16, txt: [[UInt8]]) {
        // Without the link it belongs to, such an address leads nowhere.
        let isLinkLocal = host.lowercased().hasPrefix("fe80:")
        guard port > 0, !isLinkLocal,
            let address = try? StreamAddress(host.contains(":") ? "[\(host)]" : host, defaultPort: port)
        else { return nil }
        guard case .tcp = address else { return nil }
        level = Self.level(txt)
        guard level > .none else { return nil }
        self.name = name
        self.address = address
    }

    /// GeoClue's key `accuracy`, with the level's name. Anything else counts as exact.
    static func level(_ txt: [[UInt8]]) -> AccuracyLevel {
        let key = "accuracy="
        guard let entry = txt.first(where: { $0.starts(with: key.utf8) }) else { return .exact }
        return switch String(decoding: entry.dropFirst(key.utf8.count), as: UTF8.self) {
        case "none": .none
        case "country": .country
        case "city": .city
        case "neighborhood": .neighborhood
        case "street": .street
        default: .exact
        }
    }
}
