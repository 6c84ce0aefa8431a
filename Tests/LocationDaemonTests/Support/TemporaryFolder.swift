import Foundation

/// A folder of a test's own, removed with the last reference.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID().uuidString.prefix(8))")

    var path: String { url.path }

    deinit {
        // A writer that is ending removes files of its own meanwhile, over which the removal of the folder stumbles.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: url.path) {
            try? FileManager.default.removeItem(at: url)
        }
    }
}
