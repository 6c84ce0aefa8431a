import EventLoop
import Foundation
import LocationTestSupport
import LookupProtocol
import Positioning

@testable import LocationSources

/// The lookup process at its socket, or a lookup service as that process tells of it; asked for the place of the address.
@ServiceActor
final class FaultyLookup: FaultyNeighbour {
    let source: (any LocationSource)?
    let isAskedAnew = true

    private let world: FaultWorld
    private let path: String
    private let network = ScriptedNetwork()
    private let service = ScriptedTransport()
    private var server: LoopbackServer?
    private var manner = Manner.dies

    /// The process.
    init(atSocketIn world: FaultWorld) {
        self.world = world
        path = LoopbackServer.freshPath().description
        let process = LookupProcess(socket: path, program: nil, clock: world.clock)
        source = Self.source(process, network, world)
    }

    /// The service.
    init(behindTransportIn world: FaultWorld) {
        self.world = world
        path = ""
        source = Self.source(service, network, world)
        service.answer = { _ in .failed(reason: "Could not connect to server") }
    }

    private static func source(
        _ transport: any LookupTransport, _ network: ScriptedNetwork, _ world: FaultWorld
    ) -> IPSource {
        let chain = ProviderChain(
            providers: [LookupProvider(LookupBench.first)!], transport: transport, network: network,
            userAgent: "Whereabouts/1 (test)", clock: world.clock)
        return IPSource(lookup: chain, network: network, clock: world.clock)
    }

    var served: Int { world.accepted["ip"] ?? 0 }

    func become(_ manner: Manner) async throws {
        self.manner = manner
        if path.isEmpty { becomeService(manner) } else { try becomeProcess(manner) }
    }

    func die() async throws {}

    func flood() async throws {}

    func act() async throws {}

    // MARK: The service

    private func becomeService(_ manner: Manner) {
        service.answer = { [world] _ in
            switch manner {
            case .works: return .place(accuracy: 25_000)
            case .hangs:
                await world.wait(LookupLimits.time)
                return .failed(reason: "Timeout was reached")
            case .refuses: return .status(403)
            case .floods: return .failed(reason: "the answer is too large")
            case .dies: return .failed(reason: "Transferred a partial file")
            }
        }
    }

    // MARK: The process

    private func becomeProcess(_ manner: Manner) throws {
        if manner == .refuses {
            try Data().write(to: URL(filePath: path))
            return
        }
        guard server == nil else { return }
        try? FileManager.default.removeItem(atPath: path)
        let server = try LoopbackServer(.unix(path: path))
        self.server = server
        ServiceActor.start { [weak self] in
            while let peer = try? await server.nextPeer() { ServiceActor.start { await self?.serve(peer) } }
        }
    }

    private func serve(_ peer: LoopbackPeer) async {
        while let line = await peer.nextLine() {
            guard let id = try? RequestLine(reading: Array(line.utf8)).id else { return }
            switch manner {
            case .works:
                let text = try? AnswerLine(id: id, outcome: .place(accuracy: 25_000)).text()
                peer.send(text ?? "")
            case .hangs, .refuses: break
            case .floods: peer.send(String(repeating: " ", count: LookupLimits.answerLine + 1))
            case .dies: peer.close()
            }
        }
    }

    isolated deinit { server?.stop() }
}
