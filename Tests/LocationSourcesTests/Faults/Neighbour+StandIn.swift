import EventLoop

extension Neighbour {
    /// A stand-in for it, which is not there yet.
    @ServiceActor
    func standIn(in world: FaultWorld) async throws -> any FaultyNeighbour {
        switch self {
        case .gpsd: FaultyReceiver.gpsd(in: world)
        case .nmeaSocket: FaultyReceiver.nmea(in: world)
        case .wpaSupplicant: try await FaultyWireless(.wpaSupplicant, in: world)
        case .networkManager: try await FaultyWireless(.networkManager, in: world)
        case .modemManager: try await FaultyModemManager(in: world)
        case .avahi: try await FaultyAvahi(in: world)
        case .logind: try await FaultyLogind(in: world)
        case .sensorProxy: try await FaultySensorProxy(in: world)
        case .lookupProcess: FaultyLookup(atSocketIn: world)
        case .lookupService: FaultyLookup(behindTransportIn: world)
        case .watchedFile: FaultyFile(in: world)
        }
    }
}
