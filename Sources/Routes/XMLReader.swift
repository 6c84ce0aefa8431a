internal import CExpat

/// Goes through an XML document element by element (expat).
///
/// Prefixes of names are dropped. A document type ends the reading: GPX has none, and entities only blow up a reader.
final class XMLReader {
    enum Event {
        case began(Substring, Attributes)
        /// With the text that stands right before the end, its first ``longestText`` bytes.
        case ended(Substring, text: [UInt8])
    }

    /// The attributes of one element; valid only while its event is being handled.
    struct Attributes {
        fileprivate let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?

        subscript(name: String) -> String? {
            guard var pair = pairs else { return nil }
            while let key = pair[0], let value = pair[1] {
                if String(cString: key) == name { return String(cString: value) }
                pair += 2
            }
            return nil
        }
    }

    /// The longest text that is kept, in bytes: numbers and times are far shorter.
    static let longestText = 64

    private let parser: XML_Parser
    /// Gets each event and its line, counted from 1.
    typealias Handler = (Event, Int) throws(RouteFault.Problem) -> Void

    private let handler: Handler
    private var problem: RouteFault.Problem?
    private var problemLine = 0
    private var text: [UInt8] = []

    init(_ handler: @escaping Handler) {
        self.handler = handler
        // NULL comes only where memory has run out, and Swift itself would have ended the process there.
        parser = XML_ParserCreate(nil)!
    }

    deinit { XML_ParserFree(parser) }

    private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    /// Reads a whole document.
    ///
    /// - Throws: the handler's error, or what is wrong with the XML; with the line.
    func read(_ bytes: [UInt8], file: String) throws(RouteFault) {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser, { XMLReader.from($0)?.began($1, $2) }, { XMLReader.from($0)?.ended($1) })
        XML_SetCharacterDataHandler(parser) { XMLReader.from($0)?.append($1, $2) }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in XMLReader.from(data)?.stop(.documentType) }
        // In parts, as one call takes an Int32 of bytes.
        var rest = bytes[...]
        repeat {
            let part = rest.prefix(1 << 20)
            rest = rest.dropFirst(part.count)
            let isLast: Int32 = rest.isEmpty ? 1 : 0
            let status = part.withUnsafeBytes {
                XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), isLast)
            }
            if let problem { throw RouteFault(problem, file: file, line: problemLine) }
            guard status == XML_STATUS_OK else {
                let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "no XML"
                throw RouteFault(.notXML(words), file: file, line: line)
            }
        } while !rest.isEmpty
    }

    // MARK: Callbacks

    private static func from(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func began(
        _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        text.removeAll(keepingCapacity: true)
        handle(.began(Self.localName(name), Attributes(pairs: attributes)))
    }

    private func ended(_ name: UnsafePointer<CChar>?) {
        handle(.ended(Self.localName(name), text: text))
        text.removeAll(keepingCapacity: true)
    }

    private func append(_ start: UnsafePointer<CChar>?, _ count: Int32) {
        text += UnsafeRawBufferPointer(start: start, count: Int(count)).prefix(Self.longestText - text.count)
    }

    private func handle(_ event: Event) {
        guard problem == nil else { return }
        do throws(RouteFault.Problem) {
            try handler(event, line)
        } catch {
            stop(error)
        }
    }

    private func stop(_ problem: RouteFault.Problem) {
        (self.problem, problemLine) = (problem, line)
        XML_StopParser(parser, 0)
    }

    private static func localName(_ name: UnsafePointer<CChar>?) -> Substring {
        guard let name else { return "" }
        let whole = String(cString: name)[...]
        return whole.lastIndex(of: ":").map { whole[whole.index(after: $0)...] } ?? whole
    }
}
