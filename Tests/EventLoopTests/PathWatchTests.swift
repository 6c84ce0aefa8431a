import EventLoop
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct PathWatchTests {
    init() { EventLoop.startThread() }

    /// A folder, what is watched in it, and how often that was told of.
    @ServiceActor
    private final class Bench {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whereabouts-\(UUID().uuidString)")
        private(set) var calls: [String: Int] = [:]
        private var watches: [PathWatch] = []

        init(watching names: String...) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in names {
                watches.append(
                    PathWatch(folder.appending(path: name).path) { [weak self] in self?.calls[name, default: 0] += 1 })
            }
        }

        isolated deinit { try? FileManager.default.removeItem(at: folder) }

        func write(_ name: String) throws { try Data("x".utf8).write(to: folder.appending(path: name)) }

        /// Does something, and waits until the watch of `name` has told of it.
        func expectCall(_ name: String, _ work: () throws -> Void) async throws {
            let before = calls[name] ?? 0
            try work()
            while calls[name] ?? 0 == before {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test("a file's coming, change and going are told")
    @ServiceActor
    func life() async throws {
        let bench = try Bench(watching: "file")

        try await bench.expectCall("file") { try bench.write("file") }
        try await bench.expectCall("file") { try bench.write("file") }
        try await bench.expectCall("file") {
            try FileManager.default.removeItem(at: bench.folder.appending(path: "file"))
        }
        try bench.write("other")
        try await bench.expectCall("file") {
            try FileManager.default.moveItem(
                at: bench.folder.appending(path: "other"), to: bench.folder.appending(path: "file"))
        }
    }

    @Test("what happens to its neighbours is not told")
    @ServiceActor
    func neighbours() async throws {
        let bench = try Bench(watching: "file", "neighbour")

        for _ in 0..<5 { try await bench.expectCall("neighbour") { try bench.write("neighbour") } }

        #expect(bench.calls["file"] == nil)
    }

    @Test("folders that are not there yet are waited for, and may go and come again")
    @ServiceActor
    func folders() async throws {
        let bench = try Bench(watching: "a/b/file")
        let outer = bench.folder.appending(path: "a")

        for _ in 0..<2 {
            try await bench.expectCall("a/b/file") {
                try FileManager.default.createDirectory(
                    at: outer.appending(path: "b"), withIntermediateDirectories: true)
            }
            try await bench.expectCall("a/b/file") { try bench.write("a/b/file") }
            try await bench.expectCall("a/b/file") { try FileManager.default.removeItem(at: outer) }
        }
    }
}
