internal import CDBus

/// For the fuzzer: reads a message, or builds a value, and writes what it has read. Traps where the two differ.
///
/// Input that begins like a message of the wire (`l` or `B`) is one; any other describes a value.
package func fuzzDBusValue(_ bytes: UnsafeRawBufferPointer) {
    switch bytes.first {
    case UInt8(ascii: "l"), UInt8(ascii: "B"): readAndRewrite(bytes)
    default: writeAndRead(bytes)
    }
}

private func readAndRewrite(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let pointer = dbus_message_demarshal(start, Int32(bytes.count), nil) else { return }
    let message = Message(adopting: pointer)
    _ = try? message.read(as: String.self, [String: Variant].self, [String].self)
    _ = try? message.read(as: [Structure<UInt32, [UInt8]>].self, [[String: Double]].self)
    if let entries = try? message.read(as: [String: Variant].self) { _ = Credentials(entries) }
    guard let values = try? message.readValues() else { return }
    let copy = rewritten(values)
    precondition(copy.signature == message.signature, "another type than was read")
    verify(copy)
}

private func writeAndRead(_ bytes: UnsafeRawBufferPointer) {
    var recipe = Recipe(bytes: bytes[...])
    let value = recipe.value(depth: 0)
    let message = Message.signal("/", "org.example.Fuzz", "Value", to: nil)
    guard (try? message.append(Variant(value))) != nil else { return }
    let type = value.signature
    precondition(type.isSingleType, "what is malformed has been written")
    if let values = try? message.readValues(), case .variant(let found)? = values.first {
        precondition(found.signature == type, "another type than was written")
    }
    verify(message)
}

/// What is read from a message, written anew, has to be the same to the byte.
private func verify(_ message: Message) {
    let values: [Value]
    do {
        values = try message.readValues()
    } catch {
        // Many small values take more memory than they take on the wire.
        precondition(error == .tooLarge, "what was written cannot be read: \(error)")
        return
    }
    // A descriptor's number is another one in each copy.
    guard message.writtenDescriptors == 0 else { return }
    let copy = rewritten(values)
    precondition(copy.wireFormat == message.wireFormat, "read and written differ")
}

private func rewritten(_ values: [Value]) -> Message {
    let message = Message.signal("/", "org.example.Fuzz", "Value", to: nil)
    for value in values {
        do { try message.append(value) } catch { preconditionFailure("what was read cannot be written: \(error)") }
    }
    return message
}

extension Message {
    fileprivate var wireFormat: [UInt8] {
        dbus_message_set_serial(pointer, 1)
        var start: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        guard dbus_message_marshal(pointer, &start, &count) != 0, let start else { return [] }
        defer { dbus_free(start) }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(count)))
    }
}

/// Bytes as instructions for building a value.
private struct Recipe {
    var bytes: Slice<UnsafeRawBufferPointer>

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func text() -> String {
        let part = bytes.prefix(Int(byte() & 0x1F))
        bytes = bytes.dropFirst(part.count)
        return String(decoding: part, as: UTF8.self)
    }

    mutating func value(depth: Int) -> Value {
        let number = UInt64(byte())
        // Copies of copies of copies would take all the time there is.
        let copies = Int(number % (depth < 4 ? 4 : 2))
        // Deeper than D-Bus allows, so that the writer's own limit is tried.
        switch depth > 80 ? byte() % 8 : byte() % 14 {
        case 0: return .byte(UInt8(number))
        case 1: return .bool(number & 1 == 1)
        case 2: return .int16(Int16(number) << 7)
        case 3: return .double(Double(bitPattern: number << 55))
        case 4: return .uint64(number << 56)
        case 5: return .string(text())
        case 6: return ObjectPath(text()).map(Value.objectPath) ?? .int64(Int64(number))
        case 7: return Signature(text()).map(Value.signature) ?? .uint32(UInt32(number))
        case 8, 9: return .variant(value(depth: depth + 1))
        case 10: return .structure((0..<Int(number % 4)).map { _ in value(depth: depth + 1) })
        case 11:
            let elements = (0..<Int(number % 4)).map { _ in value(depth: depth + 1) }
            return .array(of: elements.first?.signature ?? Signature(text()) ?? "s", elements)
        case 12:
            let element = value(depth: depth + 1)
            return .array(of: element.signature, Array(repeating: element, count: copies))
        default:
            let entry = Value.Entry(key: value(depth: depth + 1), value: value(depth: depth + 1))
            let entries = Array(repeating: entry, count: copies)
            return .dictionary(key: entry.key.signature, value: entry.value.signature, entries)
        }
    }
}
