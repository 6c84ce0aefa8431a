/// Everything that the administrator decides, as one value. A new one is made at each reload.
///
/// Without any file the receivers that GeoClue knows are on; gpsd, the time zone, the simulation and lookups are off.
package struct Configuration: Sendable, Equatable {
    /// `[agent]`: who may answer for a user.
    package struct Agent: Sendable, Equatable {
        /// The ids that may register as agents: those that GeoClue's own file lists.
        package var whitelist: Set<String> = [
            "geoclue-demo-agent", "gnome-shell", "io.elementary.desktop.agent-geoclue2", "sm.puri.Phosh", "lipstick",
        ]
        /// The agents that keep their answers themselves, and so are asked each time while they are there.
        package var remembers: Set<String> = ["gnome-shell", "io.elementary.desktop.agent-geoclue2"]
    }

    /// A source that is on or off and nothing else: `[3g]`, `[cdma]`, `[modem-gps]`, `[compass]`, `[time-zone]`.
    package struct Switch: Sendable, Equatable {
        package var isEnabled: Bool
    }

    /// `[network-nmea]`: sentences from the Unix socket of another program, and from others on the network.
    package struct NetworkNMEA: Sendable, Equatable {
        package var isEnabled = true
        /// Whether receivers are used that others announce on the network: only where a file says so, by this key
        /// or, as with GeoClue, by `enable=true`.
        package var discovers = false
        /// Path of the socket.
        package var socket: String?
    }

    /// `[gpsd]`
    package struct GPSD: Sendable, Equatable {
        package var isEnabled = false
        /// gpsd's own port is 2947.
        package var address = Endpoint(host: "127.0.0.1", port: 2947)
        /// Path of a Unix socket, which then is where gpsd is, and not `address`.
        package var socket: String?
    }

    /// `[nmea]`: a receiver of one's own, on the network or at a serial port.
    package struct NMEA: Sendable, Equatable {
        package var tcp: Endpoint?
        /// Path of the serial device.
        package var device: String?
        /// Bits a second; `nil` to try the usual ones.
        package var speed: Int?

        /// The port that IANA lists for NMEA 0183 on the network.
        package static let defaultPort: UInt16 = 10110
    }

    /// `[wifi]`, and what GeoClue keeps there for every lookup.
    package struct WiFi: Sendable, Equatable {
        /// Whether networks are scanned for. The address below serves cells and IP whether or not.
        package var isEnabled = true
        /// Where positions are looked up, by the protocol of Ichnaea. May hold an access key.
        package var url: String?
        package var submitsData = false
        package var submissionURL: String?
        package var submissionNick = "geoclue"
    }

    /// `[ip]`
    package struct IP: Sendable, Equatable {
        package var isEnabled = true
        /// `nil` to ask where Wi-Fi is looked up.
        package var url: String?
        /// Radius in metres that answers are given, whatever they say of themselves.
        package var accuracy: Double?
    }

    /// `[lookup]`
    package struct Lookup: Sendable, Equatable {
        /// Addresses that speak the protocol of Ichnaea, the preferred one first.
        package var providers: [String] = []
    }

    /// `[static-source]`
    package struct StaticSource: Sendable, Equatable {
        package var isEnabled = true
        package var path = "/etc/geolocation"
    }

    /// `[simulation]`
    package struct Simulation: Sendable, Equatable {
        package var isEnabled = false
        /// Path of a route; `nil` for the built-in one.
        package var file: String?
        /// How many times faster than in the route time goes.
        package var speed = 1.0
    }

    /// `[policy]`
    package struct Policy: Sendable, Equatable {
        package enum UnsandboxedApps: String, Sendable, CaseIterable { case allow, ask, deny }

        /// What applies to a program outside of any sandbox for which there is no record.
        package var unsandboxedApps = UnsandboxedApps.allow
        /// How long a question waits for an agent to come, in seconds.
        package var agentWait = 5.0
    }

    /// `[bus]`
    package struct Bus: Sendable, Equatable {
        package var ownsGeoClueName = true
    }

    package var agent = Agent()
    package var networkNMEA = NetworkNMEA()
    package var gpsd = GPSD()
    package var nmea = NMEA()
    package var cell3G = Switch(isEnabled: true)
    package var cdma = Switch(isEnabled: true)
    package var modemGPS = Switch(isEnabled: true)
    package var compass = Switch(isEnabled: true)
    package var wifi = WiFi()
    package var ip = IP()
    package var lookup = Lookup()
    package var timeZone = Switch(isEnabled: false)
    package var staticSource = StaticSource()
    package var simulation = Simulation()
    package var policy = Policy()
    package var bus = Bus()
    /// By application id.
    package var applications: [String: ApplicationRule] = [:]

    package init() {}
}
