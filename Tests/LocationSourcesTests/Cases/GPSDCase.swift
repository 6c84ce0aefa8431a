import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

@Suite("Cases: gpsd", .timeLimit(.minutes(1))) struct GPSDCase {
    init() { EventLoop.startThread() }

    private static let device = #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"}]}"# + "\r\n"

    private static func report(_ second: Int, mode: Int) -> String {
        let digits = String(100 + second).dropFirst()
        let place = mode < 2 ? "" : #","lat":10.5,"lon":20.0\#(digits),"altMSL":55.5,"eph":8.0"#
        return #"{"class":"TPV","device":"/dev/a","mode":\#(mode),"time":"2026-06-01T12:00:\#(digits).000Z"\#(place)}"#
            + "\r\n"
    }

    /// Takes the next connection as gpsd does.
    @ServiceActor
    private static func greet(_ server: LoopbackServer, expecting request: String) async throws -> LoopbackPeer {
        let peer = try await server.nextPeer()
        peer.send(#"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n")
        let line = await peer.nextLine()
        #expect(line?.hasPrefix(request) == true)
        peer.send(device)
        return peer
    }

    @Test("a gpsd that says no, falls silent, is restarted and talks rubbish is borne, and its fixes are told")
    @ServiceActor
    func course() async throws {
        let clock = ManualClock()
        let server = try LoopbackServer()
        let source = GPSDSource(address: server.address, clock: clock)
        let service = try await WholeService([source], clock: clock)
        let first = try await Self.greet(server, expecting: "?DEVICES;")
        await until { source.availableLevel == .exact }
        first.close()
        let application = try await service.startedApplication()
        var peer = try await Self.greet(server, expecting: "?WATCH=")
        func told(_ count: Int) async {
            await until {
                await application.settle()
                return application.locations.count >= count
            }
            #expect(application.locations.count == count)
        }

        // Modes 0 and 1 say nothing, 2 has no height, 3 has one.
        peer.send(Self.report(0, mode: 0) + Self.report(1, mode: 1) + Self.report(2, mode: 2))
        await told(1)
        peer.send(Self.report(3, mode: 3))
        await told(2)
        #expect(application.locations.map(\.altitude) == [-Double.greatestFiniteMagnitude, 55.5])
        #expect(application.locations.allSatisfy { $0.latitude == 10.5 && $0.accuracy == 8 })

        // Silence: the fix stays for half a minute, and ages.
        await clock.advance(by: .seconds(20))
        #expect(service.positioner.position.fine != nil)
        await clock.advance(by: .seconds(11))
        #expect(service.positioner.position.fine == nil)

        // A restart: connected at once, with a new watch.
        peer.close()
        await until {
            await clock.advance(by: .zero)
            return server.accepted == 3
        }
        peer = try await Self.greet(server, expecting: "?WATCH=")
        peer.send(Self.report(4, mode: 3))
        await told(3)

        // A line in two pieces, and one of a megabyte between two good ones.
        let line = Self.report(5, mode: 3)
        peer.send(String(line.prefix(40)))
        await application.settle()
        peer.send(String(line.dropFirst(40)))
        await told(4)
        peer.send(String(repeating: "x", count: 1 << 20) + "\r\n" + Self.report(6, mode: 3))
        await told(5)

        #expect(application.locations.map(\.longitude) == [20.002, 20.003, 20.004, 20.005, 20.006])
        #expect(server.accepted == 3)
    }
}
