import Foundation

/// A folder of a test's own, removed with the last reference.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID().uuidString.prefix(8))")

    var path: String { url.path }

    deinit { try? FileManager.default.removeItem(at: url) }
}
