/// Puts the entries of several key files, one after the other, into a ``Configuration``.
///
/// A value that cannot be read never opens anything: a switch is then off, an application or a user not let in.
struct ConfigurationReader {
    private(set) var configuration = Configuration()
    private(set) var faults: [ConfigurationFault] = []

    private typealias Problem = ConfigurationFault.Problem

    /// Where the group of each application stands first, and what GeoClue's format asks for in it.
    private var applicationHeaders: [(group: String, place: KeyFileDocument.Place)] = []
    private var keysOfApplications: [String: Set<String>] = [:]
    /// The keys whose last values could not be read.
    private var unread: [Section: Set<String>] = [:]
    private var isDiscoveryWritten = false

    mutating func read(_ document: KeyFileDocument) {
        faults += document.faults
        for header in document.headers where Section(rawValue: header.group) == nil {
            guard keysOfApplications[header.group] == nil else { continue }
            keysOfApplications[header.group] = []
            applicationHeaders.append((header.group, header.place))
        }
        for entry in document.entries {
            let section = Section(rawValue: entry.group)
            do throws(ConfigurationFault.Problem) {
                if let section {
                    try read(entry, in: section)
                    unread[section]?.remove(entry.key)
                } else {
                    try readApplication(entry)
                }
            } catch {
                if let section { unread[section, default: []].insert(entry.key) }
                faults.append(ConfigurationFault(error, at: entry.place, group: entry.group, key: entry.key))
            }
        }
    }

    /// A source of which it could not be read where it is, is off, and nobody is asked in place of another.
    private mutating func turnOffUnread() {
        func isUnread(_ section: Section, _ key: String) -> Bool { unread[section]?.contains(key) ?? false }
        if isUnread(.gpsd, "address") { configuration.gpsd.isEnabled = false }
        if isUnread(.staticSource, "path") { configuration.staticSource.isEnabled = false }
        if isUnread(.simulation, "file") { configuration.simulation.isEnabled = false }
        if isUnread(.ip, "method") || isUnread(.ip, "url") { configuration.ip.isEnabled = false }
        if isUnread(.wifi, "url") || isUnread(.lookup, "providers") {
            (configuration.wifi.url, configuration.lookup.providers) = (nil, [])
        }
    }

    /// Looks over the whole, once the last file has been read.
    mutating func finish() {
        turnOffUnread()
        for (group, place) in applicationHeaders {
            let keys = keysOfApplications[group] ?? []
            if keys.isEmpty {
                faults.append(ConfigurationFault(.unknownGroup, at: place, group: group))
                continue
            }
            for key in ["allowed", "system"] where !keys.contains(key) {
                faults.append(ConfigurationFault(.missingKey(key), at: place, group: group))
            }
        }
    }

    private mutating func read(
        _ entry: KeyFileDocument.Entry, in section: Section
    ) throws(ConfigurationFault.Problem) {
        let value = entry.value
        switch (section, entry.key) {
        case (.agent, "whitelist"): try set(&configuration.agent.whitelist, none: [], Set(value.list()))
        case (.agent, "remembers"): try set(&configuration.agent.remembers, none: [], Set(value.list()))

        case (.networkNMEA, "enable"):
            try set(&configuration.networkNMEA.isEnabled, value)
            if !isDiscoveryWritten { configuration.networkNMEA.discovers = configuration.networkNMEA.isEnabled }
        case (.networkNMEA, "discover"):
            isDiscoveryWritten = true
            try set(&configuration.networkNMEA.discovers, value)
        case (.networkNMEA, "nmea-socket"): try set(&configuration.networkNMEA.socket, none: nil, Self.path(value))

        case (.gpsd, "enable"): try set(&configuration.gpsd.isEnabled, value)
        case (.gpsd, "address"): try setGPSDAddress(value)

        case (.nmea, "tcp"):
            try set(
                &configuration.nmea.tcp, none: nil, Self.endpoint(value, port: Configuration.NMEA.defaultPort))
        case (.nmea, "device"): try set(&configuration.nmea.device, none: nil, Self.path(value))
        case (.nmea, "speed"): try set(&configuration.nmea.speed, none: nil, Self.bitsPerSecond(value))

        case (.cell3G, "enable"): try set(&configuration.cell3G.isEnabled, value)
        case (.cdma, "enable"): try set(&configuration.cdma.isEnabled, value)
        case (.modemGPS, "enable"): try set(&configuration.modemGPS.isEnabled, value)
        case (.compass, "enable"): try set(&configuration.compass.isEnabled, value)
        case (.timeZone, "enable"): try set(&configuration.timeZone.isEnabled, value)

        case (.wifi, "enable"): try set(&configuration.wifi.isEnabled, value)
        case (.wifi, "url"): try set(&configuration.wifi.url, none: nil, Self.url(value))
        case (.wifi, "submit-data"): try set(&configuration.wifi.submitsData, value)
        case (.wifi, "submission-url"): try set(&configuration.wifi.submissionURL, none: nil, Self.url(value))
        case (.wifi, "submission-nick"):
            try set(&configuration.wifi.submissionNick, none: Configuration.WiFi().submissionNick, Self.nick(value))

        case (.ip, "enable"): try set(&configuration.ip.isEnabled, value)
        case (.ip, "method"): try checkMethod(value)
        case (.ip, "url"): try set(&configuration.ip.url, none: nil, Self.url(value))
        case (.ip, "accuracy"): try set(&configuration.ip.accuracy, none: nil, Self.metres(value))

        case (.lookup, "providers"): try set(&configuration.lookup.providers, none: [], Self.providers(value))

        case (.staticSource, "enable"): try set(&configuration.staticSource.isEnabled, value)
        case (.staticSource, "path"):
            let standard = Configuration.StaticSource().path
            try set(&configuration.staticSource.path, none: standard, Self.path(value) ?? standard)

        case (.simulation, "enable"): try set(&configuration.simulation.isEnabled, value)
        case (.simulation, "file"): try set(&configuration.simulation.file, none: nil, Self.path(value))
        case (.simulation, "speed"):
            try set(
                &configuration.simulation.speed, none: Configuration.Simulation().speed,
                Self.number(value, in: 0.01...1000, "a number from 0.01 to 1000"))

        case (.policy, "unsandboxed-apps"): try setUnsandboxedApps(value)
        case (.policy, "agent-wait"):
            try set(
                &configuration.policy.agentWait, none: Configuration.Policy().agentWait,
                Self.number(value, in: 0...20, "a number of seconds from 0 to 20"))

        case (.bus, "geoclue-name"):
            try set(&configuration.bus.ownsGeoClueName, value, unreadable: configuration.bus.ownsGeoClueName)

        default: throw .unknownKey
        }
    }

    private mutating func readApplication(_ entry: KeyFileDocument.Entry) throws(ConfigurationFault.Problem) {
        guard ["allowed", "system", "users"].contains(entry.key) else { throw .unknownKey }
        keysOfApplications[entry.group, default: []].insert(entry.key)
        var rule = configuration.applications[entry.group] ?? ApplicationRule()
        defer { configuration.applications[entry.group] = rule }
        switch entry.key {
        case "allowed":
            rule.isAllowed = entry.value.boolean ?? false
            if entry.value.boolean == nil { throw Self.notBoolean(entry.value) }
        case "system":
            try set(&rule.isSystem, entry.value)
        default:
            try readUsers(entry.value, into: &rule)
        }
    }

    /// An empty list is everybody; one that names nobody who exists is nobody.
    private func readUsers(_ value: RawValue, into rule: inout ApplicationRule) throws(ConfigurationFault.Problem) {
        rule.users = []
        let items = try value.list()
        guard !items.isEmpty else {
            rule.users = nil
            return
        }
        rule.users = Set(items.compactMap { UInt32($0) })
        if let wrong = items.first(where: { UInt32($0) == nil }) {
            throw .wrongValue(wrong, isNot: "the number of a user")
        }
    }
}

// MARK: Values

extension ConfigurationReader {
    private static func notBoolean(_ value: RawValue) -> ConfigurationFault.Problem {
        .wrongValue(value.text, isNot: "true or false")
    }

    private func set(
        _ target: inout Bool, _ value: RawValue, unreadable: Bool = false
    ) throws(ConfigurationFault.Problem) {
        target = value.boolean ?? unreadable
        if value.boolean == nil { throw Self.notBoolean(value) }
    }

    /// What cannot be used is none: nothing is sent to the address of an earlier file instead, nor read from its path.
    private func set<Value>(
        _ target: inout Value, none: Value, _ value: @autoclosure () throws(ConfigurationFault.Problem) -> Value
    ) throws(ConfigurationFault.Problem) {
        target = none
        target = try value()
    }

    private static func url(_ value: RawValue) throws(ConfigurationFault.Problem) -> String? {
        let text = try value.string()
        return text.isEmpty ? nil : try url(text)
    }

    private static func url(_ text: String) throws(ConfigurationFault.Problem) -> String {
        guard let address = WebAddress(text) else { throw .wrongAddress(isNot: "an http or https address") }
        guard address.isSecure || address.isLoopback else {
            throw .wrongAddress(isNot: "an https address (plain http is for this machine only)")
        }
        return text
    }

    private static func providers(_ value: RawValue) throws(ConfigurationFault.Problem) -> [String] {
        var providers: [String] = []
        for text in try value.list() { providers.append(try url(text)) }
        return providers
    }

    /// `nil` where the value is empty, which is how an earlier file is overruled.
    private static func path(_ value: RawValue) throws(ConfigurationFault.Problem) -> String? {
        let text = try value.string()
        guard !text.isEmpty else { return nil }
        guard text.hasPrefix("/") else { throw .wrongValue(text, isNot: "a path from the root") }
        return text
    }

    private static func endpoint(_ value: RawValue, port: UInt16) throws(ConfigurationFault.Problem) -> Endpoint? {
        let text = try value.string()
        guard !text.isEmpty else { return nil }
        guard let endpoint = Endpoint(text, defaultPort: port) else {
            throw .wrongValue(text, isNot: "a numeric address, with a port if need be (127.0.0.1:\(port))")
        }
        return endpoint
    }

    private static func number(
        _ value: RawValue, in range: ClosedRange<Double>, _ expected: String
    ) throws(ConfigurationFault.Problem) -> Double {
        guard let number = value.number, range.contains(number) else {
            throw .wrongValue(value.text, isNot: expected)
        }
        return number
    }

    private static func metres(_ value: RawValue) throws(ConfigurationFault.Problem) -> Double? {
        guard !value.text.isEmpty else { return nil }
        return try number(value, in: 0...20_000_000, "a radius in metres")
    }

    /// The rates that termios(3) has and receivers use.
    private static func bitsPerSecond(_ value: RawValue) throws(ConfigurationFault.Problem) -> Int? {
        guard !value.text.isEmpty else { return nil }
        let rates = [4800, 9600, 19200, 38400, 57600, 115_200, 230_400, 460_800, 921_600]
        guard let rate = value.integer, rates.contains(rate) else {
            throw .wrongValue(value.text, isNot: "a rate of a serial port (4800, 9600 … 921600)")
        }
        return rate
    }

    private mutating func setGPSDAddress(_ value: RawValue) throws(ConfigurationFault.Problem) {
        let standard = Configuration.GPSD().address
        (configuration.gpsd.socket, configuration.gpsd.address) = (nil, standard)
        let text = try value.string()
        if text.hasPrefix("/") { return configuration.gpsd.socket = text }
        configuration.gpsd.address = try Self.endpoint(value, port: standard.port) ?? standard
    }

    /// GeoClue takes 2 to 32 characters, and none.
    private static func nick(_ value: RawValue) throws(ConfigurationFault.Problem) -> String {
        let text = try value.string()
        guard text.isEmpty || (2...32).contains(text.count) else {
            throw .wrongValue(text, isNot: "a name of 2 to 32 characters")
        }
        return text
    }

    /// A method that is not known here is not replaced by another one, which would ask somebody else.
    private func checkMethod(_ value: RawValue) throws(ConfigurationFault.Problem) {
        guard value.text == "ichnaea" else {
            throw .wrongValue(value.text, isNot: "ichnaea, the one method there is; the source is off")
        }
    }

    private mutating func setUnsandboxedApps(_ value: RawValue) throws(ConfigurationFault.Problem) {
        guard let choice = Configuration.Policy.UnsandboxedApps(rawValue: value.text) else {
            if configuration.policy.unsandboxedApps == .allow { configuration.policy.unsandboxedApps = .ask }
            throw .wrongValue(value.text, isNot: "allow, ask or deny; nobody is let in unasked")
        }
        configuration.policy.unsandboxedApps = choice
    }
}
