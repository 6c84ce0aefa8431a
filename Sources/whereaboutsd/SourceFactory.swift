import EventLoop
import KeyFile
import LocationSources
import Positioning

/// Makes the sources that a configuration asks for.
@ServiceActor
enum SourceFactory {
    static func sources(for configuration: Configuration, clock: any Clock) -> [any LocationSource] {
        var sources: [any LocationSource] = []
        if configuration.networkNMEA.isEnabled, let socket = configuration.networkNMEA.socket {
            do {
                sources.append(NMEASocketSource(address: try StreamAddress(socket, defaultPort: 0), clock: clock))
            } catch {
                Log.warning("[network-nmea] nmea-socket: \(error)")
            }
        }
        if configuration.simulation.isEnabled {
            sources.append(SimulatedSource(speed: configuration.simulation.speed, clock: clock))
        }
        return sources
    }
}
