import DBus
import EventLoop
import Foundation
import GeoClueAPI
import Testing

@testable import LocationDaemon

/// What the service says of itself is what the installed files say.
@Suite(.timeLimit(.minutes(1))) struct ContractTests {
    init() { EventLoop.startThread() }

    /// The members of one interface, without comments and with every space put the same way.
    ///
    /// Files have them in the order in which they are best read, so only the order within a kind counts.
    private func interface(_ name: String, in text: String) throws -> [[String]] {
        let plain = text.replacing(#/<!--(?s:.)*?-->/#, with: "").replacing(#/\s+/#, with: " ")
            .replacing("> <", with: "><").replacing(" />", with: "/>")
        let start = try #require(plain.range(of: "<interface name=\"\(name)\">"))
        let end = try #require(plain.range(of: "</interface>", range: start.upperBound..<plain.endIndex))
        let members = plain[start.upperBound..<end.lowerBound].matches(
            of: #/<(method|property|signal) [^>]*?(/>|>.*?</\1>)/#
        ).map { String($0.output.0) }
        #expect(members.joined() == plain[start.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespaces))
        return ["<method", "<property", "<signal"].map { kind in members.filter { $0.hasPrefix(kind) } }
    }

    private func installed(_ name: String) throws -> [[String]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../dbus")
        return try interface(name, in: String(contentsOf: folder.appending(path: "\(name).xml"), encoding: .utf8))
    }

    @ServiceActor
    private func introspected(
        _ name: InterfaceName, of destination: BusName, at path: ObjectPath, by connection: Connection
    ) async throws -> [[String]] {
        let text = try await connection.call(
            destination, path, "org.freedesktop.DBus.Introspectable", "Introspect", returning: String.self)
        return try interface(name.string, in: text)
    }

    @Test("the interfaces of GeoClue are those of the files, to the letter")
    @ServiceActor
    func geoClue() async throws {
        let lab = try await Lab()
        let app = try await lab.app()
        try await app.start()
        await lab.receiver.demanded()
        lab.receiver.send(48, 11)
        let location = try await app.nextLocation()

        for (name, path) in [
            (GeoClueNames.manager, GeoClueNames.managerPath), (GeoClueNames.client, app.path),
            (GeoClueNames.location, location),
        ] {
            let served = try await introspected(name, of: GeoClueNames.busName, at: path, by: app.connection)
            #expect(try served == installed(name.string))
        }
    }

    @Test("the service calls agents as the file of their interface says")
    @ServiceActor
    func agent() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let agent = try await lab.agent()

        try await lab.app().start()

        let served = try await introspected(
            GeoClueNames.agent, of: agent.connection.uniqueName, at: GeoClueNames.agentPath,
            by: try lab.connect())
        #expect(try served == installed(GeoClueNames.agent.string))
        #expect(agent.asked.count == 1)
    }

    @Test("the interface for users and administrators is that of its file, to the letter")
    @ServiceActor
    func control() async throws {
        let lab = try await Lab()

        let served = try await introspected(
            WhereaboutsNames.control, of: WhereaboutsNames.controlBusName, at: WhereaboutsNames.controlPath,
            by: try lab.connect())

        #expect(try served == installed(WhereaboutsNames.control.string))
    }
}
