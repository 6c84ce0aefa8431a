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
    private var strangeGroups: Set<String> = []
    private var isDiscoveryWritten = false

    mutating func read(_ document: KeyFileDocument) {
        faults += document.faults
        for header in document.headers where Section(rawValue: header.group) == nil {
            guard keysOfApplications[header.group] == nil else { continue }
            keysOfApplications[header.group] = []
            applicationHeaders.append((header.group, header.place))
        }
        for entry in document.entries {
            do throws(ConfigurationFault.Problem) {
                if let section = Section(rawValue: entry.group) {
                    try read(entry, in: section)
                } else {
                    try readApplication(entry)
                }
            } catch {
                faults.append(ConfigurationFault(error, at: entry.place, group: entry.group, key: entry.key))
            }
        }
    }

    /// Looks over the whole, once the last file has been read.
    mutating func finish() {
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
        case (.agent, "whitelist"): configuration.agent.whitelist = Set(try value.list())
        case (.agent, "remembers"): configuration.agent.remembers = Set(try value.list())

        case (.networkNMEA, "enable"):
            try set(&configuration.networkNMEA.isEnabled, value)
            if !isDiscoveryWritten { configuration.networkNMEA.discovers = configuration.networkNMEA.isEnabled }
        case (.networkNMEA, "discover"):
            isDiscoveryWritten = true
            try set(&configuration.networkNMEA.discovers, value)
        case (.networkNMEA, "nmea-socket"): configuration.networkNMEA.socket = try path(value)

        case (.gpsd, "enable"): try set(&configuration.gpsd.isEnabled, value)
        case (.gpsd, "address"): try setGPSDAddress(value)

        case (.nmea, "tcp"):
            configuration.nmea.tcp = try endpoint(value, port: Configuration.NMEA.defaultPort)
        case (.nmea, "device"): configuration.nmea.device = try path(value)
        case (.nmea, "speed"): configuration.nmea.speed = try bitsPerSecond(value)

        case (.cell3G, "enable"): try set(&configuration.cell3G.isEnabled, value)
        case (.cdma, "enable"): try set(&configuration.cdma.isEnabled, value)
        case (.modemGPS, "enable"): try set(&configuration.modemGPS.isEnabled, value)
        case (.compass, "enable"): try set(&configuration.compass.isEnabled, value)
        case (.timeZone, "enable"): try set(&configuration.timeZone.isEnabled, value)

        case (.wifi, "enable"): try set(&configuration.wifi.isEnabled, value)
        case (.wifi, "url"): try set(&configuration.wifi.url, value)
        case (.wifi, "submit-data"): try set(&configuration.wifi.submitsData, value)
        case (.wifi, "submission-url"): try set(&configuration.wifi.submissionURL, value)
        case (.wifi, "submission-nick"): configuration.wifi.submissionNick = try nick(value)

        case (.ip, "enable"): try set(&configuration.ip.isEnabled, value)
        case (.ip, "method"): try setMethod(value)
        case (.ip, "url"): try set(&configuration.ip.url, value)
        case (.ip, "accuracy"): configuration.ip.accuracy = try metres(value)

        case (.lookup, "providers"): configuration.lookup.providers = try providers(value)

        case (.staticSource, "enable"): try set(&configuration.staticSource.isEnabled, value)
        case (.staticSource, "path"):
            configuration.staticSource.path = try path(value) ?? Configuration.StaticSource().path

        case (.simulation, "enable"): try set(&configuration.simulation.isEnabled, value)
        case (.simulation, "file"): configuration.simulation.file = try path(value)
        case (.simulation, "speed"):
            configuration.simulation.speed = try number(value, in: 0.01...1000, "a number from 0.01 to 1000")

        case (.policy, "unsandboxed-apps"): try setUnsandboxedApps(value)
        case (.policy, "agent-wait"):
            configuration.policy.agentWait = try number(value, in: 0...20, "a number of seconds from 0 to 20")
        case (.policy, "require-reason"):
            try set(&configuration.policy.requiresReason, value, unreadable: true)

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

    /// An address that cannot be used is none: nothing is sent to the one of an earlier file instead.
    private func set(_ target: inout String?, _ value: RawValue) throws(ConfigurationFault.Problem) {
        target = nil
        let text = try value.string()
        if !text.isEmpty { target = try Self.url(text) }
    }

    private static func url(_ text: String) throws(ConfigurationFault.Problem) -> String {
        guard let address = WebAddress(text) else { throw .wrongAddress(isNot: "an http or https address") }
        guard address.isSecure || address.isLoopback else {
            throw .wrongAddress(isNot: "an https address (plain http is for this machine only)")
        }
        return text
    }

    private mutating func providers(_ value: RawValue) throws(ConfigurationFault.Problem) -> [String] {
        configuration.lookup.providers = []
        var providers: [String] = []
        for text in try value.list() { providers.append(try Self.url(text)) }
        return providers
    }

    /// `nil` where the value is empty, which is how an earlier file is overruled.
    private func path(_ value: RawValue) throws(ConfigurationFault.Problem) -> String? {
        let text = try value.string()
        guard !text.isEmpty else { return nil }
        guard text.hasPrefix("/") else { throw .wrongValue(text, isNot: "a path from the root") }
        return text
    }

    private func endpoint(_ value: RawValue, port: UInt16) throws(ConfigurationFault.Problem) -> Endpoint? {
        let text = try value.string()
        guard !text.isEmpty else { return nil }
        guard let endpoint = Endpoint(text, defaultPort: port) else {
            throw .wrongValue(text, isNot: "a numeric address, with a port if need be (127.0.0.1:\(port))")
        }
        return endpoint
    }

    private func number(
        _ value: RawValue, in range: ClosedRange<Double>, _ expected: String
    ) throws(ConfigurationFault.Problem) -> Double {
        guard let number = value.number, range.contains(number) else {
            throw .wrongValue(value.text, isNot: expected)
        }
        return number
    }

    private func metres(_ value: RawValue) throws(ConfigurationFault.Problem) -> Double? {
        guard !value.text.isEmpty else { return nil }
        return try number(value, in: 0...20_000_000, "a radius in metres")
    }

    /// The rates that termios(3) has and receivers use.
    private func bitsPerSecond(_ value: RawValue) throws(ConfigurationFault.Problem) -> Int? {
        guard !value.text.isEmpty else { return nil }
        let rates = [4800, 9600, 19200, 38400, 57600, 115_200, 230_400, 460_800, 921_600]
        guard let rate = value.integer, rates.contains(rate) else {
            throw .wrongValue(value.text, isNot: "a rate of a serial port (4800, 9600 … 921600)")
        }
        return rate
    }

    private mutating func setGPSDAddress(_ value: RawValue) throws(ConfigurationFault.Problem) {
        let standard = Configuration.GPSD().address
        let text = try value.string()
        configuration.gpsd.socket = text.hasPrefix("/") ? text : nil
        guard configuration.gpsd.socket == nil else { return }
        configuration.gpsd.address = try endpoint(value, port: standard.port) ?? standard
    }

    /// GeoClue takes 2 to 32 characters, and none.
    private func nick(_ value: RawValue) throws(ConfigurationFault.Problem) -> String {
        let text = try value.string()
        guard text.isEmpty || (2...32).contains(text.count) else {
            throw .wrongValue(text, isNot: "a name of 2 to 32 characters")
        }
        return text
    }

    /// A method that is not known here is not replaced by another one, which would ask somebody else.
    private mutating func setMethod(_ value: RawValue) throws(ConfigurationFault.Problem) {
        guard let method = Configuration.IP.Method(rawValue: value.text) else {
            configuration.ip.isEnabled = false
            throw .wrongValue(value.text, isNot: "ichnaea, the one method there is; the source is off")
        }
        configuration.ip.method = method
    }

    private mutating func setUnsandboxedApps(_ value: RawValue) throws(ConfigurationFault.Problem) {
        guard let choice = Configuration.Policy.UnsandboxedApps(rawValue: value.text) else {
            configuration.policy.unsandboxedApps = .ask
            throw .wrongValue(value.text, isNot: "allow, ask or deny; taken as ask")
        }
        configuration.policy.unsandboxedApps = choice
    }
}
