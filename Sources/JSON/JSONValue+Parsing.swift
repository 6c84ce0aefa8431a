internal import CJansson

/// Why bytes are no JSON value, or not one that is taken.
package enum JSONError: Error, Equatable, Sendable {
    /// More bytes than allowed.
    case tooLarge(limit: Int)
    /// Arrays and objects nested deeper than allowed.
    case tooDeep(limit: Int)
    /// Not JSON, or not UTF-8: the byte, counted from 0, after which that was clear.
    case malformed(position: Int, reason: String)
    /// NaN and the infinities cannot be written.
    case notFinite
}

extension JSONValue {
    /// What a document may ask of its reader.
    package struct Limits: Sendable {
        package var bytes: Int
        package var depth: Int

        package init(bytes: Int = 1 << 20, depth: Int = 32) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    /// Parses one document. Of a key that comes twice the last value counts.
    ///
    /// - Throws: ``JSONError``.
    package init(parsing bytes: UnsafeRawBufferPointer, limits: Limits = Limits()) throws(JSONError) {
        guard bytes.count <= limits.bytes else { throw .tooLarge(limit: limits.bytes) }
        guard Self.depth(of: bytes) <= limits.depth else { throw .tooDeep(limit: limits.depth) }
        var failure = json_error_t()
        let flags = Int(JSON_DECODE_ANY)
        let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard let text, let root = json_loadb(text, bytes.count, flags, &failure) else {
            let reason = withUnsafeBytes(of: &failure.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw .malformed(position: max(Int(failure.position), 0), reason: reason)
        }
        defer { json_decref(root) }
        self.init(copying: root)
    }

    package init(parsing text: ArraySlice<UInt8>, limits: Limits = Limits()) throws(JSONError) {
        let result = text.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSONValue(parsing: bytes, limits: limits) }
        }
        self = try result.get()
    }

    package init(parsing text: String, limits: Limits = Limits()) throws(JSONError) {
        try self.init(parsing: Array(text.utf8)[...], limits: limits)
    }

    /// Counts brackets outside of strings, so that nobody's stack is tried by a line of `[[[[`.
    private static func depth(of bytes: UnsafeRawBufferPointer) -> Int {
        var (depth, deepest) = (0, 0)
        var (isInString, isEscaped) = (false, false)
        for byte in bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    private init(copying value: UnsafeMutablePointer<json_t>) {
        switch value.pointee.type {
        case JSON_OBJECT: self = .object(Self.members(of: value))
        case JSON_ARRAY:
            self = .array((0..<json_array_size(value)).map { JSONValue(copying: json_array_get(value, $0)!) })
        case JSON_STRING:
            let bytes = UnsafeRawBufferPointer(start: json_string_value(value), count: json_string_length(value))
            self = .string(String(decoding: bytes, as: UTF8.self))
        case JSON_INTEGER: self = .integer(Int64(json_integer_value(value)))
        case JSON_REAL: self = .number(json_real_value(value))
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        default: self = .null
        }
    }

    private static func members(of object: UnsafeMutablePointer<json_t>) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        members.reserveCapacity(json_object_size(object))
        var iterator = json_object_iter(object)
        while let current = iterator {
            members[String(cString: json_object_iter_key(current))] = JSONValue(
                copying: json_object_iter_value(current))
            iterator = json_object_iter_next(object, current)
        }
        return members
    }
}
