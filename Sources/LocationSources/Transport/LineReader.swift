/// Cuts a stream of bytes into lines, and drops those that are too long, in constant memory.
package struct LineReader: Sendable {
    private let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    /// - Parameter limit: the longest line that is kept, in bytes, without its end.
    package init(limit: Int) { self.limit = limit }

    /// Hands each whole line to `body`, without its end (LF, CR LF). Empty lines are skipped.
    package mutating func read(_ bytes: UnsafeRawBufferPointer, _ body: (ArraySlice<UInt8>) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[rest.startIndex..<end])
            finish(body)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    private mutating func append(_ part: Slice<UnsafeRawBufferPointer>) {
        guard !isTooLong else { return }
        // One byte more than the limit for the CR, which does not count.
        guard line.count + part.count <= limit + 1 else {
            isTooLong = true
            line.removeAll(keepingCapacity: true)
            return
        }
        line.append(contentsOf: part)
    }

    private mutating func finish(_ body: (ArraySlice<UInt8>) -> Void) {
        let end = line.last == UInt8(ascii: "\r") ? line.count - 1 : line.count
        if !isTooLong, end > 0, end <= limit { body(line[..<end]) }
        isTooLong = false
        line.removeAll(keepingCapacity: true)
    }
}
