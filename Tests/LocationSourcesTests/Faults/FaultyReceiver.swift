import EventLoop
import Foundation
import Geolocation
import LocationTestSupport
import NMEATestSupport
import Positioning

@testable import LocationSources

/// gpsd, or whoever feeds an NMEA socket, at a path.
@ServiceActor
final class FaultyReceiver: FaultyNeighbour {
    let source: (any LocationSource)?

    private let world: FaultWorld
    private let path: String
    private let greeting: String
    private let fix: @ServiceActor () -> String
    private var server: LoopbackServer?
    private var peers: [LoopbackPeer] = []
    private var manner = Manner.dies

    static func gpsd(in world: FaultWorld) -> FaultyReceiver {
        let path = LoopbackServer.freshPath()
        let greeting =
            #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\r\n"
            + #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"}]}"# + "\r\n"
        return FaultyReceiver(world, path, GPSDSource(address: path, clock: world.clock), greeting: greeting) {
            let digits = world.nextTime()
            let time = "2026-06-01T\(digits.prefix(2)):\(digits.dropFirst(2).prefix(2)):\(digits.dropFirst(4))Z"
            return #"{"class":"TPV","device":"/dev/a","mode":3,"time":"\#(time)","lat":10.5,"lon":20.25,"eph":8}"#
                + "\r\n"
        }
    }

    static func nmea(in world: FaultWorld) -> FaultyReceiver {
        let path = LoopbackServer.freshPath()
        return FaultyReceiver(world, path, NMEASocketSource(address: path, clock: world.clock), greeting: "") {
            world.nextSentences()
        }
    }

    private init(
        _ world: FaultWorld, _ path: StreamAddress, _ source: any LocationSource, greeting: String,
        fix: @escaping @ServiceActor () -> String
    ) {
        self.world = world
        self.path = path.description
        self.source = source
        self.greeting = greeting
        self.fix = fix
    }

    var served: Int { world.accepted[source?.name ?? ""] ?? 0 }

    func become(_ manner: Manner) async throws {
        self.manner = manner
        if manner == .refuses {
            // Nobody listens behind what is no socket, or no longer one.
            try Data().write(to: URL(filePath: path))
        } else if server == nil {
            try? FileManager.default.removeItem(atPath: path)
            let server = try LoopbackServer(.unix(path: path))
            self.server = server
            ServiceActor.start { [weak self] in
                while let peer = try? await server.nextPeer() { self?.greet(peer) }
            }
        } else {
            for peer in peers { peer.send(greeting) }
        }
    }

    private func greet(_ peer: LoopbackPeer) {
        peers.append(peer)
        if manner == .works { peer.send(greeting) }
    }

    func die() async throws {
        server?.stop()
        server = nil
        for peer in peers { peer.close() }
        peers = []
    }

    func flood() async throws {
        let text = (0..<500).map { _ in fix() + "nonsense\r\n" }.joined()
        for peer in peers { peer.send(text) }
    }

    func act() async throws {
        guard manner == .works else { return }
        let text = fix()
        for peer in peers { peer.send(text) }
    }

    isolated deinit { server?.stop() }
}

extension FaultWorld {
    /// Two moments of a receiver: with the second, the first is complete.
    func nextSentences() -> String {
        (0..<2).map { _ in
            let time = nextTime()
            return rmc(time) + gga(time)
        }.joined()
    }
}
