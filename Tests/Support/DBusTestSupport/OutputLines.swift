import EventLoop
import Foundation
import LocationTestSupport

/// The lines that a child program prints, as they come.
@ServiceActor
package final class OutputLines {
    /// The program closed its output before the line came.
    package struct Ended: Error, CustomStringConvertible {
        package let output: String
        package var description: String { "the output ended: \(output)" }
    }

    /// Everything so far.
    package private(set) var text = ""

    private var partial: [UInt8] = []
    private var unread: [String] = []
    private var isAtEnd = false
    private let waiters = Waiters()
    private let descriptor: FileDescriptor
    private var watch: Watch?

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
        _ = fcntl(descriptor.raw, F_SETFL, O_NONBLOCK)
        watch = Watch(descriptor, for: .readable) { [weak self] _ in self?.readAvailable() }
    }

    isolated deinit { watch?.cancel() }

    /// The next line that holds `part`; those before it are passed over.
    package func next(containing part: String = "") async throws -> String {
        while true {
            while !unread.isEmpty {
                let line = unread.removeFirst()
                if part.isEmpty || line.contains(part) { return line }
            }
            if isAtEnd { throw Ended(output: text) }
            try await waiters.wait()
        }
    }

    /// Everything, once the program has closed its output.
    package func wholeText() async -> String {
        while !isAtEnd, (try? await waiters.wait()) != nil {}
        return text
    }

    private func readAvailable() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor.raw, &bytes, bytes.count)
            guard count > 0 else {
                if count == 0 { finish() }
                break
            }
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
            take(bytes.prefix(count))
        }
        waiters.wake()
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                unread.append(String(decoding: partial, as: UTF8.self))
                partial = []
            } else {
                partial.append(byte)
            }
        }
    }

    private func finish() {
        if !partial.isEmpty { unread.append(String(decoding: partial, as: UTF8.self)) }
        partial = []
        isAtEnd = true
        watch?.cancel()
        watch = nil
    }
}
