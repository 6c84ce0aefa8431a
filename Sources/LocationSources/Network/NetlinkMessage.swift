internal import CNetlink

/// One message on a netlink socket (netlink(7)), its lengths checked.
struct NetlinkMessage: Sendable, Equatable {
    let type: UInt16
    let sequence: UInt32
    let payload: ArraySlice<UInt8>

    private static let headerSize = MemoryLayout<nlmsghdr>.size

    /// The messages in what a socket has given at once. What does not fit its own length ends them.
    static func parse(_ bytes: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = bytes[...]
        while let length = rest.integer(UInt32.self, at: 0).map({ Int($0) }), length >= headerSize,
            length <= rest.count, let type = rest.integer(UInt16.self, at: 4),
            let sequence = rest.integer(UInt32.self, at: 8)
        {
            let payload = rest.dropFirst(headerSize).prefix(length - headerSize)
            messages.append(NetlinkMessage(type: type, sequence: sequence, payload: payload))
            rest = rest.dropFirst(length.aligned)
        }
        return messages
    }

    /// The bytes of a request.
    ///
    /// - Parameter header: what stands before the attributes in a message of that type.
    static func request(
        _ type: Int, sequence: UInt32, header: [UInt8], attributes: [(type: UInt32, value: [UInt8])] = []
    ) -> [UInt8] {
        var payload = header
        for (type, value) in attributes {
            payload += UInt16(4 + value.count).bytes + UInt16(type).bytes + value
            payload += [UInt8](repeating: 0, count: value.count.aligned - value.count)
        }
        return UInt32(headerSize + payload.count).bytes + UInt16(type).bytes + UInt16(NLM_F_REQUEST).bytes
            + sequence.bytes + UInt32(0).bytes + payload
    }

    /// The attributes behind a header of that size, by their types.
    func attributes(after headerSize: Int) -> [UInt32: ArraySlice<UInt8>] {
        Self.attributes(in: payload.dropFirst(headerSize.aligned))
    }

    /// Attributes that stand by themselves or inside of another one. What does not fit its own length ends them.
    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt32: ArraySlice<UInt8>] {
        var attributes: [UInt32: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let length = rest.integer(UInt16.self, at: 0).map({ Int($0) }), length >= 4, length <= rest.count,
            let type = rest.integer(UInt16.self, at: 2)
        {
            // The two highest bits say how the value is written.
            attributes[UInt32(type & 0x3FFF)] = rest.dropFirst(4).prefix(length - 4)
            rest = rest.dropFirst(length.aligned)
        }
        return attributes
    }
}

extension ArraySlice<UInt8> {
    /// The number in the machine's own byte order that begins `offset` bytes from the start; `nil` beyond the end.
    func integer<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number? {
        guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}

extension FixedWidthInteger {
    /// In the machine's own byte order.
    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}

extension Int {
    /// Messages and attributes begin at multiples of four.
    fileprivate var aligned: Int { (self + 3) & ~3 }
}
