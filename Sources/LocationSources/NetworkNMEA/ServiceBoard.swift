import Geolocation

/// The services that are there, and which of them is listened to: the finest, of equal ones the one known longest,
/// and those that failed after all others.
struct ServiceBoard: Sendable, Equatable {
    /// More than any network has; what comes beyond is ignored.
    static let mostServices = 16

    private(set) var services: [NetworkService] = []
    private var failed: Set<String> = []

    /// The finest level that any of them offers.
    var level: AccuracyLevel { services.map(\.level).max() ?? .none }

    /// The one to listen to; `nil` if there is none, or if all have failed.
    var choice: NetworkService? {
        var best: NetworkService?
        for service in services where !failed.contains(service.name) {
            if best.map({ service.level > $0.level }) ?? true { best = service }
        }
        return best
    }

    /// Whether there is another one to try than `name`.
    func hasAlternative(to name: String) -> Bool { services.contains { $0.name != name } }

    /// Takes in a service that has been found, or found again at another address.
    mutating func add(_ service: NetworkService) {
        if let index = services.firstIndex(where: { $0.name == service.name }) {
            services[index] = service
        } else if services.count < Self.mostServices {
            services.append(service)
        }
    }

    mutating func remove(_ name: String) {
        services.removeAll { $0.name == name }
        failed.remove(name)
    }

    mutating func removeAll() { self = ServiceBoard() }

    mutating func fail(_ name: String) { failed.insert(name) }

    /// Gives those that failed another chance.
    mutating func forgive() { failed = [] }
}
