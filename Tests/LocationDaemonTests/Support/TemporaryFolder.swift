import Foundation
import LocationTestSupport

/// A folder of a test's own, removed with the last reference.
final class TemporaryFolder: Sendable {
    let url = TestFolder.unused("lab")

    var path: String { url.path }

    deinit {
        // Where a writer is just ending, the end of the process does it.
        try? FileManager.default.removeItem(at: url)
    }
}
