import DBusTestSupport
import EventLoop
import Foundation
import LocationTestSupport
import Testing

/// What `make run` runs.
@Suite(.timeLimit(.minutes(3)))
struct DemoTests {
    init() { EventLoop.startThread() }

    private static let demo = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../packaging/demo").standardizedFileURL.path

    @Test("the demo ends with Ctrl-C, also where what it shows ends just then")
    @ServiceActor
    func interrupted() async throws {
        let folder = TestFolder.unused("demo")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = folder.appending(path: "command").path
        try Data("#!/bin/sh\nkill -INT $PPID\n".utf8).write(to: URL(filePath: command))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: command)

        // Which of the two is noticed first is chance.
        for _ in 0..<30 {
            let demo = try ChildProgram(
                Self.demo, [RunningDaemon.executable, command], environment: ["TMPDIR": folder.path])
            let exit = await withTaskCancellationHandler {
                await demo.ended()
            } onCancel: {
                kill(demo.processID, SIGKILL)
            }
            #expect(exit == .status(0))
        }

        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["command"])
    }
}
