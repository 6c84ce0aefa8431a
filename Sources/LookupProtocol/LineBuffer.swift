/// Cuts what arrives into lines. A line that is too long is a fault, since nothing that belongs here is.
package struct LineBuffer: Sendable {
    private let limit: Int
    private var bytes: [UInt8] = []
    /// Up to where there is no end of a line.
    private var searched = 0

    /// - Parameter limit: the longest line, in bytes, without its end.
    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// Takes the next whole line, without its end (LF). A CR is part of the line; to JSON it is a blank.
    ///
    /// - Throws: ``LookupLineFault/tooLong(limit:)``, also before the end of such a line has come.
    package mutating func next() throws(LookupLineFault) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            guard bytes.count <= limit else { throw .tooLong(limit: limit) }
            return nil
        }
        guard end <= limit else { throw .tooLong(limit: limit) }
        let line = Array(bytes[..<end])
        bytes.removeSubrange(...end)
        searched = 0
        return line
    }
}
