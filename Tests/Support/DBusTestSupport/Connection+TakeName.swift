import DBus

extension Connection {
    /// Comes back with the name. A bus may see a request before it sees that the owner until then has closed its connection.
    package func takeName(_ name: BusName) async throws {
        while try await requestName(name) == .taken { try Task.checkCancellation() }
    }
}
