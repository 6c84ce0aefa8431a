import Foundation

/// Where the tests of this process keep their folders. Removed at its end, with whatever a test could not remove because
/// somebody was still writing there.
package enum TestFolder {
    private static let root: URL = {
        let root = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(getpid())")
        // Programs of other users look into it, too.
        try? FileManager.default.createDirectory(
            at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        atexit { try? FileManager.default.removeItem(at: TestFolder.root) }
        return root
    }()

    /// A path that nothing is at. Short, since those of sockets have little room.
    package static func unused(_ name: String) -> URL { root.appending(path: "\(name)-\(UUID().uuidString.prefix(8))") }
}
