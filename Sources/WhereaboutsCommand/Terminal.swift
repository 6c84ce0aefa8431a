import Glibc

/// Standard output and standard error, as a person or a pipe reads them.
enum Terminal {
    /// Whether a person is looking, who likes a picture better than lines.
    static var isInteractive: Bool { isatty(1) == 1 }

    /// Columns and rows.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes at once, past any buffer, so that a pipe shows each line as it comes.
    static func show(_ text: String) { write(text, to: 1) }

    static func complain(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
