/// The entries of one key file, in the order in which they stand there.
///
/// The dialect is GeoClue's, which is that of GLib's key files: groups in brackets, `key=value`, comments after `#`.
/// Localized keys (`name[de]=`) say nothing about a service and are left out. What cannot be read is a fault; the
/// other lines still count.
package struct KeyFileDocument: Sendable, Equatable {
    /// Where something stands.
    package struct Place: Sendable, Hashable {
        package var file: String
        /// Counted from 1. `nil` where a whole file is meant.
        package var line: Int?

        package init(file: String, line: Int? = nil) {
            self.file = file
            self.line = line
        }
    }

    package struct Header: Sendable, Equatable {
        package var group: String
        package var place: Place
    }

    package struct Entry: Sendable, Equatable {
        package var group: String
        package var key: String
        package var value: RawValue
        package var place: Place
    }

    package internal(set) var headers: [Header] = []
    package internal(set) var entries: [Entry] = []
    package internal(set) var faults: [ConfigurationFault] = []

    /// Larger files are not read at all, in bytes.
    package static let sizeLimit = 1 << 20

    /// Reads `bytes`, whatever they are.
    ///
    /// - Parameter file: the name that places and faults carry.
    package init(_ bytes: UnsafeRawBufferPointer, file: String) {
        guard bytes.count <= Self.sizeLimit else {
            faults = [ConfigurationFault(.tooLarge(limit: Self.sizeLimit), at: Place(file: file))]
            return
        }
        var parser = KeyFileParser(file: file)
        parser.read(bytes)
        self = parser.document
    }

    package init(_ text: String, file: String) {
        var text = text
        self = text.withUTF8 { KeyFileDocument(UnsafeRawBufferPointer($0), file: file) }
    }

    init() {}
}
