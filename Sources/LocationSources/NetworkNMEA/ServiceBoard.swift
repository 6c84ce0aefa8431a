import Geolocation

/// The services that are there, and which of them is listened to: the finest, of equal ones the one known longest,
/// and those that failed after all others.
struct ServiceBoard: Sendable, Equatable {
    /// More than any network has; what comes beyond is ignored.
    static let mostServices = 16
    /// Of one service; the oldest goes for one more.
    static let mostAddresses = 4

    /// One that is announced over several protocols or interfaces is there once for each of its addresses.
    private(set) var services: [NetworkService] = []
    private var failed: Set<NetworkService> = []

    /// The finest level that any of them offers.
    var level: AccuracyLevel { services.map(\.level).max() ?? .none }

    /// The one to listen to; `nil` if there is none, or if all have failed.
    var choice: NetworkService? {
        var best: NetworkService?
        for service in services where !failed.contains(service) {
            if best.map({ service.level > $0.level }) ?? true { best = service }
        }
        return best
    }

    /// Whether there is another one to try.
    func hasAlternative(to service: NetworkService) -> Bool { services.contains { $0 != service } }

    /// Takes in a service that has been found, or found again at another address.
    mutating func add(_ service: NetworkService) {
        let known = services.indices.filter { services[$0].name == service.name }
        if let index = known.first(where: { services[$0].address == service.address }) {
            services[index] = service
        } else if let oldest = known.first, known.count == Self.mostAddresses {
            services.remove(at: oldest)
            services.insert(service, at: oldest + Self.mostAddresses - 1)
        } else if services.count < Self.mostServices {
            services.insert(service, at: known.last.map { $0 + 1 } ?? services.endIndex)
        }
        failed.formIntersection(services)
    }

    mutating func remove(_ name: String) {
        services.removeAll { $0.name == name }
        failed.formIntersection(services)
    }

    mutating func removeAll() { self = ServiceBoard() }

    mutating func fail(_ service: NetworkService) { failed.insert(service) }

    /// Gives those that failed another chance.
    mutating func forgive() { failed = [] }
}
