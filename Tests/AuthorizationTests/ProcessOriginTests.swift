import Authorization
import Testing

@Suite struct ProcessOriginTests {
    private static let slice = "/user.slice/user-1000.slice/user@1000.service/app.slice"

    private func origin(
        unit: String, in slice: String = slice, namespaceProcessIDs: String? = "NSpid:\t4711",
        command: String? = "maps", label: String? = nil
    ) -> ProcessOrigin {
        ProcessOrigin(
            ProcessFacts(
                cgroup: "0::\(slice)/\(unit)\n", namespaceProcessIDs: namespaceProcessIDs, command: command,
                securityLabel: label))
    }

    @Test(
        "a Flatpak is known by its scope, dashes in its id included",
        arguments: [
            ("app-flatpak-org.example.Maps-4711.scope", "org.example.Maps"),
            ("app-flatpak-org.example.My-Maps-4711.scope", "org.example.My-Maps"),
            ("app-flatpak-org.example.My\\x2dMaps-4711.scope", "org.example.My-Maps"),
            ("app-flatpak-org.example.Maps-12-4711.scope", "org.example.Maps-12"),
            ("app-flatpak-org.example.desktop-4711.scope", "org.example.desktop"),
            ("flatpak-org.example.Maps-4711.scope", "org.example.Maps"),
            ("xdg-app-org.example.Maps-4711.scope", "org.example.Maps"),
        ])
    func flatpak(unit: String, id: String) {
        #expect(origin(unit: unit, namespaceProcessIDs: "NSpid:\t4711\t3") == .flatpak(id: id))
    }

    @Test("a group below a sandbox's scope does not lead out of the sandbox")
    func groupBelowSandbox() {
        let inner = "app-flatpak-org.example.Maps-4711.scope/app-org.example.Other-1.scope/inner"

        #expect(origin(unit: inner) == .flatpak(id: "org.example.Maps"))
    }

    @Test(
        "a sandbox's scope that names nobody is an unknown sandbox",
        arguments: [
            "app-flatpak-org.example.Maps.scope", "app-flatpak--4711.scope", "app-flatpak-a\\x2fb-4711.scope",
            "app-flatpak-org.example.My-Maps.scope", "app-flatpak-\\xff-1.scope", "snap..maps.scope",
        ])
    func malformedSandbox(unit: String) {
        #expect(origin(unit: unit) == .unknown)
    }

    @Test(
        "a snap is known by its unit",
        arguments: [
            "snap.maps.maps-0c1d2e3f-aaaa.scope", "snap.maps.maps.0c1d2e3f.scope", "snap.maps.daemon.service",
        ])
    func snap(unit: String) {
        #expect(origin(unit: unit) == .snap(name: "maps"))
    }

    @Test("a snap's security label counts, whatever its unit")
    func snapLabel() {
        #expect(origin(unit: "app-gnome-maps-4711.scope", label: "snap.maps.maps (enforce)") == .snap(name: "maps"))
        #expect(origin(unit: "app-gnome-maps-4711.scope", label: "unconfined") == .host(id: "maps"))
    }

    @Test(
        "what the session started is known by its scope or service",
        arguments: [
            ("app-gnome-org.gnome.Maps-4711.scope", "org.gnome.Maps"),
            ("app-org.kde.marble-4711.scope", "org.kde.marble"),
            ("app-org.example.My-Maps-4711.scope", "org.example.My-Maps"),
            ("app-gnome-my\\x2dmaps-4711.scope", "my-maps"),
            ("app-org.kde.marble@0123abcd.service", "org.kde.marble"),
            ("app-gnome-org.gnome.Evolution\\x2dalarm@autostart.service", "org.gnome.Evolution-alarm"),
            ("app-org.gnome.Maps.service", "org.gnome.Maps"),
            ("app-gnome-org.gnome.Terminal-4711.scope/vte-spawn", "org.gnome.Terminal"),
        ])
    func host(unit: String, id: String) {
        #expect(origin(unit: unit) == .host(id: id))
    }

    @Test(
        "what no unit of the session names is unnamed",
        arguments: ["session-2.scope", "dbus.service", "app-4711.scope", "app.scope", "app-maps.slice", ""])
    func unnamed(unit: String) {
        #expect(origin(unit: unit) == .unnamed)
    }

    @Test("a system service that is named like an application is none")
    func systemService() {
        #expect(origin(unit: "app-org.gnome.Maps.service", in: "/system.slice") == .unnamed)
        #expect(origin(unit: "xdg-desktop-portal.service", in: "/system.slice") == .unnamed)
    }

    @Test("the portal is known by its own unit")
    func portal() {
        let portal = origin(
            unit: "xdg-desktop-portal.service", in: "/user.slice/user-1000.slice/user@1000.service/session.slice")

        #expect(portal == .portal)
        #expect(portal.isPortal && !portal.isSandboxed)
    }

    @Test("a nested process namespace without a sandbox's name is unknown")
    func nestedNamespace() {
        #expect(origin(unit: "app-gnome-maps-4711.scope", namespaceProcessIDs: "NSpid:\t4711\t1") == .unknown)
        #expect(origin(unit: "xdg-desktop-portal.service", namespaceProcessIDs: "4711 1") == .unknown)
        #expect(origin(unit: "session-2.scope", namespaceProcessIDs: "4711") == .unnamed)
    }

    @Test("what cannot be read counts against the caller")
    func unreadable() {
        #expect(ProcessOrigin(ProcessFacts(cgroup: nil, namespaceProcessIDs: "NSpid:\t1")) == .unknown)
        #expect(ProcessOrigin(ProcessFacts(cgroup: "", namespaceProcessIDs: "NSpid:\t1")) == .unknown)
        #expect(ProcessOrigin(ProcessFacts(cgroup: "nonsense\n0::\n", namespaceProcessIDs: "NSpid:\t1")) == .unknown)
        #expect(origin(unit: "session-2.scope", namespaceProcessIDs: nil) == .unknown)
        #expect(origin(unit: "session-2.scope", namespaceProcessIDs: "NSpid:\tx") == .unknown)
    }

    @Test("the proxy of a sandbox is unknown unless its scope names the sandbox")
    func proxy() {
        #expect(origin(unit: "app-gnome-maps-4711.scope", command: "xdg-dbus-proxy\n") == .unknown)
        #expect(
            origin(unit: "app-flatpak-org.example.Maps-4711.scope", command: "xdg-dbus-proxy\n")
                == .flatpak(id: "org.example.Maps"))
    }

    @Test("a legacy hierarchy is read by systemd's own line; controllers' paths say nothing")
    func legacy() {
        let file = """
            9:memory:/user.slice/app-flatpak-org.example.Wrong-1.scope
            1:name=systemd:\(Self.slice)/flatpak-org.example.Maps-4711.scope

            """

        #expect(
            ProcessOrigin(ProcessFacts(cgroup: file, namespaceProcessIDs: "NSpid:\t4711"))
                == .flatpak(id: "org.example.Maps"))
    }

    @Test("a sandbox on either line of a hybrid hierarchy counts")
    func hybrid() {
        let file = "1:name=systemd:/\n0::\(Self.slice)/app-flatpak-org.example.Maps-4711.scope (deleted)\n"

        #expect(
            ProcessOrigin(ProcessFacts(cgroup: file, namespaceProcessIDs: "NSpid:\t4711"))
                == .flatpak(id: "org.example.Maps"))
    }
}
