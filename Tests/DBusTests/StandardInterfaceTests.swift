import DBus
import DBusTestSupport
import EventLoop
import Foundation
import FoundationXML
import Testing

@Suite(.timeLimit(.minutes(1)))
struct StandardInterfaceTests {
    init() { EventLoop.startThread() }

    @Test("an object describes its rows in their order, then the standard interfaces")
    @ServiceActor
    func introspection() async throws {
        let service = try await TestService()

        let document = try await service.introspect(TestService.path)

        let own = """
              <interface name="org.example.Test">
                <method name="Echo">
                  <arg name="value" type="v" direction="in"/>
                  <arg name="value" type="v" direction="out"/>
                </method>
                <method name="Add">
                  <arg name="left" type="d" direction="in"/>
                  <arg name="right" type="d" direction="in"/>
                  <arg name="sum" type="d" direction="out"/>
                </method>
                <method name="Wait">
                  <arg name="label" type="s" direction="in"/>
                  <arg name="number" type="u" direction="out"/>
                </method>
                <method name="Note">
                  <arg name="label" type="s" direction="in"/>
                </method>
                <method name="Fail"/>
                <method name="Rename">
                  <arg name="name" type="s" direction="in"/>
                </method>
                <method name="Refused"/>
                <method name="RefusedLater"/>
                <property name="Name" type="s" access="readwrite"/>
                <property name="Level" type="u" access="readwrite"/>
                <property name="Version" type="u" access="read">
                  <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
                </property>
                <property name="Moment" type="(tt)" access="read">
                  <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
                </property>
                <property name="Secret" type="s" access="readwrite"/>
                <signal name="Ticked">
                  <arg name="number" type="u"/>
                  <arg name="path" type="o"/>
                </signal>
              </interface>
            """
        #expect(document.contains(own))
        let names = document.matches(of: /<interface name="([^"]*)">/).map { String($0.output.1) }
        #expect(
            names == [
                "org.example.Test", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable",
                "org.freedesktop.DBus.Peer",
            ])
        #expect(XMLParser(data: Data(document.utf8)).parse())
    }

    @Test("nodes on the way to an object exist and name what is below them")
    @ServiceActor
    func intermediateNodes() async throws {
        let service = try await TestService()
        service.server.objects.add(
            TestObject(on: service.server, at: "/org/example/Object/Part"), at: "/org/example/Object/Part")

        let nodes = [
            "/": try await service.nodes("/"), "/org": try await service.nodes("/org"),
            "/org/example": try await service.nodes("/org/example"),
            "/org/example/Object": try await service.nodes("/org/example/Object"),
            "/org/example/Object/Part": try await service.nodes("/org/example/Object/Part"),
        ]

        #expect(
            nodes == [
                "/": ["org"], "/org": ["example"], "/org/example": ["Object"], "/org/example/Object": ["Part"],
                "/org/example/Object/Part": [],
            ])
    }

    @Test("a branch is asked for its objects, and shows each caller its own children")
    @ServiceActor
    func branches() async throws {
        let service = try await TestService()
        let other = try service.bus.connect()
        let objects: [ObjectPath: TestObject] = [
            "/org/example/Client/1": TestObject(on: service.server, at: "/org/example/Client/1"),
            "/org/example/Client/2": TestObject(on: service.server, at: "/org/example/Client/2"),
        ]
        let owner = service.client.uniqueName
        service.server.objects.add(
            .init(
                object: { path, _ in objects[path] },
                children: { path, sender in path == "/org/example/Client" && sender == owner ? ["1", "2"] : [] }),
            below: "/org/example/Client")

        let mine = try await service.nodes("/org/example/Client")
        let theirs = try await other.call(
            service.server.uniqueName, "/org/example/Client", "org.freedesktop.DBus.Introspectable", "Introspect",
            returning: String.self
        )
        let parent = try await service.nodes("/org/example")
        let sum = try await service.client.call(
            service.server.uniqueName, "/org/example/Client/2", TestService.interface, "Add", 1.0, 2.0,
            returning: Double.self)
        let missing = await service.failure { () throws(BusError) in
            _ = try await service.introspect("/org/example/Client/3")
        }

        #expect(mine == ["1", "2"])
        #expect(!theirs.contains("<node name"))
        #expect(parent == ["Client", "Object"])
        #expect(sum == 3)
        #expect(missing?.message == "Object does not exist at path “/org/example/Client/3”")
    }

    @Test("every path that exists answers Ping and tells the machine's id", arguments: ["/", "/org/example/Object"])
    @ServiceActor
    func peer(path: ObjectPath) async throws {
        let service = try await TestService()
        let server = service.server.uniqueName

        try await service.client.call(server, path, "org.freedesktop.DBus.Peer", "Ping")
        let id = try? await service.client.call(
            server, path, "org.freedesktop.DBus.Peer", "GetMachineId", returning: String.self)

        let expected = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
            .compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first
        #expect(id == expected?.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

extension TestService {
    /// The names of the nodes that a path lists below itself.
    fileprivate func nodes(_ path: ObjectPath) async throws -> [String] {
        try await introspect(path).matches(of: /<node name="([^"]*)"\/>/).map { String($0.output.1) }
    }
}
