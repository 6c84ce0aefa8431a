import EventLoop
import KeyFile
import Routes

extension Configuration {
    /// Reads the files that the options name, and lays the options over them.
    static func load(for options: Options) -> (Configuration, [ConfigurationFault]) {
        var (configuration, faults) = options.configurationFile.map { load(files: [$0]) } ?? load()
        if !options.ownsGeoClueName { configuration.bus.ownsGeoClueName = false }
        if options.isSimulating { configuration.simulateOnly() }
        if let socket = options.nmeaSocket {
            configuration.networkNMEA.isEnabled = true
            configuration.networkNMEA.socket = socket
        }
        if options.submitsData { configuration.wifi.submitsData = true }
        if let nick = options.submissionNick { configuration.wifi.submissionNick = nick }
        return (configuration, faults)
    }

    /// Prints every fault of the files, and of the route that they name. Not as a log, which a slow reader loses lines of.
    ///
    /// - Returns: the status to exit with: 0 if there is none.
    static func check(_ options: Options) -> Int32 {
        let (configuration, faults) = load(for: options)
        for fault in faults { print(fault) }
        var isSound = faults.isEmpty
        if configuration.simulation.isEnabled, let file = configuration.simulation.file {
            do {
                _ = try Route.load(file)
            } catch {
                print(error)
                isSound = false
            }
        }
        return isSound ? 0 : 1
    }

    /// No real source beside the simulation, which would only confuse.
    private mutating func simulateOnly() {
        simulation.isEnabled = true
        gpsd.isEnabled = false
        networkNMEA.isEnabled = false
        nmea.tcp = nil
        nmea.device = nil
        (cell3G.isEnabled, cdma.isEnabled, modemGPS.isEnabled) = (false, false, false)
        (wifi.isEnabled, ip.isEnabled, timeZone.isEnabled, compass.isEnabled) = (false, false, false, false)
        staticSource.isEnabled = false
    }
}
