import Foundation
import LocationTestSupport
import Testing

@testable import KeyFile

@Suite struct ConfigurationTests {
    /// Reads texts as files `0.conf`, `1.conf` … of which each overrules those before it.
    private func read(_ texts: String...) -> (Configuration, [ConfigurationFault]) {
        Configuration.read(texts.enumerated().map { KeyFileDocument($1, file: "\($0).conf") })
    }

    @Test("gpsd is at an address or at a Unix socket, whichever is named last")
    func gpsdSocket() {
        func gpsd(_ lines: String...) -> Configuration.GPSD {
            let text = (["[gpsd]"] + lines).joined(separator: "\n")
            return Configuration.read([KeyFileDocument(text, file: "x.conf")]).0.gpsd
        }

        #expect(gpsd("address=/run/gpsd.json").socket == "/run/gpsd.json")
        #expect(gpsd("address=/run/gpsd.json", "address=127.0.0.1:1").socket == nil)
        #expect(gpsd("address=/run/gpsd.json", "address=").socket == nil)
        #expect(gpsd("address=127.0.0.1:1").address.port == 1)
    }

    @Test("receivers of others are used where a file says so, by GeoClue's key or by one of its own")
    func discovery() {
        func discovers(_ lines: String...) -> Bool {
            let text = (["[network-nmea]"] + lines).joined(separator: "\n")
            return Configuration.read([KeyFileDocument(text, file: "x.conf")]).0.networkNMEA.discovers
        }

        #expect(!discovers())
        #expect(!discovers("nmea-socket=/run/x"))
        #expect(discovers("enable=true"))
        #expect(!discovers("enable=false"))
        #expect(discovers("discover=true"))
        #expect(!discovers("discover=false", "enable=true"))
        #expect(!discovers("enable=true", "discover=maybe"))
    }

    @Test("without a file GeoClue's receivers are on, and whatever is new is off")
    func defaults() {
        let (configuration, faults) = read()

        #expect(configuration.networkNMEA.isEnabled && configuration.networkNMEA.socket == nil)
        #expect(configuration.modemGPS.isEnabled && configuration.cell3G.isEnabled && configuration.cdma.isEnabled)
        #expect(configuration.compass.isEnabled && configuration.staticSource.isEnabled)
        #expect(!configuration.gpsd.isEnabled && !configuration.timeZone.isEnabled)
        #expect(!configuration.simulation.isEnabled)
        #expect(configuration.wifi.url == nil && !configuration.wifi.submitsData)
        #expect(configuration.lookup.providers == [])
        #expect(configuration.policy == .init(unsandboxedApps: .allow, agentWait: 5))
        #expect(configuration.bus.ownsGeoClueName)
        #expect(configuration.applications == [:])
        #expect(faults == [])
    }

    @Test("GeoClue's sections mean what they mean there")
    func geoclueSections() {
        let (configuration, faults) = read(
            """
            [agent]
            whitelist=gnome-shell;my-agent;
            [network-nmea]
            enable=false
            nmea-socket=/run/gps-share.sock
            [3g]
            enable=false
            [cdma]
            enable=false
            [modem-gps]
            enable=false
            [wifi]
            enable=false
            url=https://example.org/v1/geolocate?key=k
            submit-data=true
            submission-url=https://example.org/v2/geosubmit
            submission-nick=me
            [compass]
            enable=false
            [static-source]
            enable=false
            [ip]
            enable=true
            method=ichnaea
            url=http://127.0.0.1:8080/v1/geolocate
            accuracy=25000
            """)

        var expected = Configuration()
        expected.agent.whitelist = ["gnome-shell", "my-agent"]
        expected.networkNMEA = .init(isEnabled: false, socket: "/run/gps-share.sock")
        expected.cell3G.isEnabled = false
        expected.cdma.isEnabled = false
        expected.modemGPS.isEnabled = false
        expected.wifi = .init(
            isEnabled: false, url: "https://example.org/v1/geolocate?key=k", submitsData: true,
            submissionURL: "https://example.org/v2/geosubmit", submissionNick: "me")
        expected.compass.isEnabled = false
        expected.staticSource.isEnabled = false
        expected.ip = .init(
            isEnabled: true, url: "http://127.0.0.1:8080/v1/geolocate", accuracy: 25_000)
        #expect(configuration == expected)
        #expect(faults == [])
    }

    @Test("the service's own sections are read")
    func ownSections() {
        let (configuration, faults) = read(
            """
            [agent]
            remembers=
            [gpsd]
            enable=true
            address=[::1]:2948
            [nmea]
            tcp=192.0.2.7
            device=/dev/ttyUSB0
            speed=9600
            [time-zone]
            enable=true
            [lookup]
            providers=https://a.example/v1;http://localhost:1/v1
            [static-source]
            path=/srv/place
            [simulation]
            enable=true
            file=/srv/route.nmea
            speed=10
            [policy]
            unsandboxed-apps=ask
            agent-wait=2.5
            [bus]
            geoclue-name=false
            """)

        var expected = Configuration()
        expected.agent.remembers = []
        expected.gpsd = .init(isEnabled: true, address: Endpoint(host: "::1", port: 2948))
        expected.nmea = .init(tcp: Endpoint(host: "192.0.2.7", port: 10110), device: "/dev/ttyUSB0", speed: 9600)
        expected.timeZone.isEnabled = true
        expected.lookup.providers = ["https://a.example/v1", "http://localhost:1/v1"]
        expected.staticSource.path = "/srv/place"
        expected.simulation = .init(isEnabled: true, file: "/srv/route.nmea", speed: 10)
        expected.policy = .init(unsandboxedApps: .ask, agentWait: 2.5)
        expected.bus.ownsGeoClueName = false
        #expect(configuration == expected)
        #expect(faults == [])
    }

    @Test("a later file overrules single keys and leaves the others")
    func laterFileWins() {
        let (configuration, _) = read(
            "[gpsd]\nenable=true\naddress=127.0.0.1:1\n[org.example.App]\nallowed=true\nsystem=true\nusers=\n",
            "[gpsd]\naddress=127.0.0.1:2\n[org.example.App]\nallowed=false\n")

        #expect(configuration.gpsd == .init(isEnabled: true, address: Endpoint(host: "127.0.0.1", port: 2)))
        #expect(configuration.applications["org.example.App"] == ApplicationRule(isAllowed: false, isSystem: true))
    }

    @Test("an empty value takes back what an earlier file said")
    func emptyValue() {
        let (configuration, faults) = read(
            "[wifi]\nurl=https://a.example/\n[network-nmea]\nnmea-socket=/run/x\n[gpsd]\naddress=127.0.0.1:1\n",
            "[wifi]\nurl=\n[network-nmea]\nnmea-socket=\n[gpsd]\naddress=\n")

        #expect(configuration == Configuration())
        #expect(faults == [])
    }

    @Test("what the installed file says to write sends nothing to anybody, whatever services were named before")
    func noLookups() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../packaging/beacondb.conf")
        let installed = try String(contentsOf: file.standardized, encoding: .utf8)
        let recipe = installed.split(separator: "\n").filter { $0.hasPrefix("#     ") }.map { $0.dropFirst(6) }

        let (configuration, faults) = read(
            "[wifi]\nurl=https://a.example/\n[ip]\nurl=https://b.example/\n", installed,
            recipe.joined(separator: "\n"))

        #expect(configuration == Configuration())
        #expect(faults == [])
    }

    @Test("an unknown key is a fault that names file, line, group and key")
    func unknownKey() {
        let (configuration, faults) = read("[gpsd]\nenable=true\n", "\n[gpsd]\nenabel=false\n")

        #expect(configuration.gpsd.isEnabled)
        #expect(faults.map(\.description) == ["1.conf:3: [gpsd] enabel: no such key"])
    }

    @Test("a switch that cannot be read is off")
    func unreadableSwitch() {
        let (configuration, faults) = read("[gpsd]\nenable=true\n", "[gpsd]\nenable=maybe\n[wifi]\nsubmit-data=yes\n")

        #expect(!configuration.gpsd.isEnabled)
        #expect(!configuration.wifi.submitsData)
        #expect(faults.first?.description == "1.conf:2: [gpsd] enable: “maybe” is not true or false")
        #expect(faults.count == 2)
    }

    @Test("an address that cannot be used leaves none, not that of an earlier file, and is not repeated in the fault")
    func unusableAddress() {
        let (configuration, faults) = read(
            "[wifi]\nurl=https://a.example/\n", "[wifi]\nurl=http://b.example/?key=SECRET\n")

        #expect(configuration.wifi.url == nil)
        #expect(faults.count == 1)
        #expect(faults.allSatisfy { !$0.description.contains("SECRET") })
    }

    @Test(
        "an address has a scheme of the web and a host, and is encrypted unless it stays on this machine",
        arguments: [
            ("https://a.example/x", true), ("http://127.0.0.1:80/x", true), ("http://127.9.9.9/x", true),
            ("http://[::1]:80/x", true), ("http://localhost", true), ("HTTPS://a.example", true),
            ("http://127.0.0.1.evil.example/", false), ("http://localhost.example/", false),
            ("http://127.0.0.1@evil.example/", false), ("http://a.example/", false), ("ftp://a.example/", false),
            ("https://", false), ("https:a.example", false), ("a.example", false), ("https://a b/", false),
            ("http://127.0.0.1\\\\@evil.example/", false),
        ])
    func addresses(text: String, isUsable: Bool) {
        let (configuration, faults) = read("[wifi]\nurl=\(text)\n")

        #expect((configuration.wifi.url != nil) == isUsable)
        #expect(faults.isEmpty == isUsable)
    }

    @Test(
        "an endpoint is a numeric address and a port in range",
        arguments: [
            ("127.0.0.1", "127.0.0.1:2947"), ("127.0.0.1:1", "127.0.0.1:1"), ("::1", "[::1]:2947"),
            ("[::1]", "[::1]:2947"), ("[fe80::1]:65535", "[fe80::1]:65535"), ("localhost:9", "127.0.0.1:9"),
            ("gps.example:9", nil), ("127.0.0.1:0", nil), ("127.0.0.1:65536", nil), ("127.0.0.1:", nil),
            ("127.0.0.1:+5", nil), ("[::1", nil), ("[::1]9", nil), ("1.2.3", nil), (":9", nil),
        ])
    func endpoints(text: String, expected: String?) {
        #expect(Endpoint(text, defaultPort: 2947)?.description == expected)
    }

    @Test(
        "a value out of range is a fault and the default stays",
        arguments: [
            "[policy]\nagent-wait=-1\n", "[policy]\nagent-wait=3600\n", "[simulation]\nspeed=0\n",
            "[nmea]\nspeed=1234\n", "[nmea]\ndevice=ttyUSB0\n", "[ip]\naccuracy=far\n", "[wifi]\nsubmission-nick=x\n",
            "[gpsd]\naddress=gps.example\n",
        ] as [Sample])
    func outOfRange(text: Sample) {
        let (configuration, faults) = read(text.text)

        #expect(configuration == Configuration())
        #expect(faults.count == 1)
    }

    @Test(
        "a value that cannot be read leaves nothing of an earlier file's in force",
        arguments: [
            ("[agent]\nwhitelist=", "a;b", "a\\x"), ("[agent]\nremembers=", "a;b", "a\\x"),
            ("[network-nmea]\nnmea-socket=", "/run/x", "run/x"), ("[nmea]\ntcp=", "127.0.0.1", "gps.example"),
            ("[nmea]\ndevice=", "/dev/ttyUSB0", "ttyUSB0"), ("[nmea]\nspeed=", "9600", "9601"),
            ("[wifi]\nurl=", "https://a.example/", "b.example"),
            ("[wifi]\nsubmission-url=", "https://a.example/", "\\x"), ("[wifi]\nsubmission-nick=", "me", "x"),
            ("[ip]\naccuracy=", "1000", "far"), ("[lookup]\nproviders=", "https://a.example/", "b.example"),
            ("[gpsd]\naddress=", "192.0.2.7", "gps.example"), ("[gpsd]\naddress=", "/run/gpsd", "\\x"),
            ("[static-source]\npath=", "/srv/place", "place"), ("[simulation]\nfile=", "/srv/route", "route"),
            ("[simulation]\nspeed=", "10", "fast"), ("[policy]\nagent-wait=", "10", "long"),
        ])
    func unreadable(key: String, good: String, bad: String) {
        let (overruled, faults) = read("\(key)\(good)\n", "\(key)\(bad)\n")

        #expect(overruled == read("\(key)\(bad)\n").0)
        #expect(overruled != read("\(key)\(good)\n").0)
        #expect(faults.count == 1)
    }

    @Test("a list of agents that cannot be read names none, and no other place is used for one that cannot be read")
    func unreadableClosed() {
        let (configuration, faults) = read(
            """
            [agent]
            whitelist=a\\x
            [gpsd]
            address=gps.example
            enable=true
            [static-source]
            path=x
            enable=true
            [simulation]
            file=x
            enable=true
            """)

        #expect(configuration.agent.whitelist == [])
        #expect(!configuration.gpsd.isEnabled && !configuration.staticSource.isEnabled)
        #expect(!configuration.simulation.isEnabled)
        #expect(faults.count == 4)
    }

    @Test("what cannot be read does not open the policy")
    func carefulPolicy() {
        let (configuration, faults) = read("[policy]\nunsandboxed-apps=dney\n")

        #expect(configuration.policy.unsandboxedApps == .ask)
        #expect(faults.count == 1)
        let (closed, _) = read("[policy]\nunsandboxed-apps=deny\n", "[policy]\nunsandboxed-apps=dney\n")
        #expect(closed.policy.unsandboxedApps == .deny)
    }

    @Test("for a service whose address cannot be read nobody else is asked")
    func nobodyElse() {
        let providers = "[lookup]\nproviders=https://a.example/\n"
        let (badIP, _) = read("\(providers)[ip]\nenable=true\nurl=htps://own.example/\n")
        let (badURL, _) = read("\(providers)[wifi]\nenable=true\nurl=htps://own.example/\n")
        let (badList, _) = read("[wifi]\nurl=https://a.example/\n[lookup]\nproviders=htps://own.example/\n")
        let (mended, _) = read("\(providers)[wifi]\nurl=htps://own.example/\n", "[wifi]\nurl=https://own.example/\n")

        #expect(!badIP.ip.isEnabled && badIP.lookup.providers == ["https://a.example/"])
        #expect(badURL.wifi.url == nil && badURL.lookup.providers.isEmpty)
        #expect(badList.wifi.url == nil && badList.lookup.providers.isEmpty)
        #expect(mended.wifi.url == "https://own.example/" && mended.lookup.providers == ["https://a.example/"])
    }

    @Test("another method of looking up the IP address is not replaced by the known one")
    func unknownMethod() {
        let (configuration, faults) = read("[ip]\nmethod=gmaps\nenable=true\n")

        #expect(!configuration.ip.isEnabled)
        #expect(faults.count == 1)
        #expect(read("[ip]\nmethod=gmaps\n", "[ip]\nmethod=ichnaea\n").0 == Configuration())
    }
}
