/// Text that a test is given as its argument: in the log it is short, and what cannot be printed is written out.
package struct Sample: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String {
        let size = text.utf8.count
        return size <= 80 ? text.debugDescription : "\(text.prefix(40).debugDescription)… (\(size) bytes)"
    }
}
