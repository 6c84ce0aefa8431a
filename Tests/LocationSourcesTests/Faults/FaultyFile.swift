import EventLoop
import Foundation
import LocationSources
import LocationTestSupport
import Positioning

/// The file in which an administrator has written where the machine is.
@ServiceActor
final class FaultyFile: FaultyNeighbour {
    let source: (any LocationSource)?

    private let world: FaultWorld
    private let folder = TestFolder.unused("fault")
    private var path: String { folder.appending(path: "geolocation").path }
    private var latitude = 10.0

    init(in world: FaultWorld) {
        self.world = world
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        source = FilePlaceSource.fixed(folder.appending(path: "geolocation").path, clock: world.clock)
    }

    var served: Int { world.accepted["static"] ?? 0 }

    func become(_ manner: Manner) async throws {
        try? FileManager.default.removeItem(atPath: path)
        switch manner {
        // Whoever opened it to read would wait for a writer.
        case .hangs: mkfifo(path, 0o644)
        case .refuses: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try writePlace()
        }
    }

    /// The writer ends in the middle.
    func die() async throws { try Data("10.5\n20.5\n5".utf8).write(to: URL(filePath: path)) }

    func flood() async throws {
        for _ in 0..<200 { try writePlace() }
    }

    func act() async throws { try writePlace() }

    private func writePlace() throws {
        latitude += 0.000_01
        try Data("\(latitude)\n20.5\n55\n30\n".utf8).write(to: URL(filePath: path))
    }

    isolated deinit { try? FileManager.default.removeItem(at: folder) }
}
