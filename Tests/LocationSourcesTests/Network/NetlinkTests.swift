import Testing

@testable import LocationSources

@Suite("The kernel's answers about routes") struct NetlinkTests {
    /// Recorded from Linux 6.18: the way to 198.41.0.4 by way of 192.0.2.1 over interface 4.
    private static let route = bytes(
        "700000001800000007000000eb61000002200000fe0000010002000008000f00fe00000008000100c6290004080004000400000008000700"
            + "c000020208000500c0000201080019000000000024000c00020000008e58030000000000000000000000000000000000000000000000"
            + "0000")
    /// The same over interface 2, a tunnel, which has no router.
    private static let tunnelRoute = bytes(
        "6800000018000000070000001b62000002200000fe0000010002000008000f00fe00000008000100c629000408000400020000000800"
            + "07000a090002080019000000000024000c000200000000000000000000000000000000000000000000000000000000000000")
    /// That the network is unreachable.
    private static let unreachable = bytes(
        "380000000200000007000000446200009bffffff240000001a000100070000000000000002200000000000000000000008000100c6290004"
    )
    /// That address by way of fd00::1 over interface 4, with the other protocol.
    private static let routeSix = bytes(
        "b00000001800000007000000eb6100000a808000fe0300010000000008000f00fe0000001400010020010503ba3e00000000000000020030"
            + "140002000000000000000000000000000000000014000700fd000000000000000000000000000002080006000004000014000500fd00"
            + "0000000000000000000000000001080004000400000024000c0002000000000000000000000000000000000000000000000000000000"
            + "000000000500140000000000")

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        stride(from: 0, to: hexadecimal.count, by: 2).compactMap {
            let start = hexadecimal.index(hexadecimal.startIndex, offsetBy: $0)
            return UInt8(hexadecimal[start..<hexadecimal.index(start, offsetBy: 2)], radix: 16)
        }
    }

    private func message(_ bytes: [UInt8]) throws -> NetlinkMessage {
        let messages = NetlinkMessage.parse(bytes)
        return try #require(messages.count == 1 ? messages.first : nil)
    }

    @Test("a route has its interface and its router")
    func routes() throws {
        let four = try #require(RouteAnswer(message(Self.route)))
        let six = try #require(RouteAnswer(message(Self.routeSix)))
        let tunnel = try #require(RouteAnswer(message(Self.tunnelRoute)))

        #expect(four.linkIndex == 4 && four.gateway == [192, 0, 2, 1])
        #expect(six.linkIndex == 4 && six.gateway == [0xFD] + [UInt8](repeating: 0, count: 14) + [1])
        #expect(tunnel.linkIndex == 2 && tunnel.gateway == [])
        #expect(try message(Self.route).sequence == 7)
    }

    @Test("an address that cannot be reached has no route, nor has one that packets are dropped for")
    func noRoute() throws {
        var dropped = Self.route
        // RTN_BLACKHOLE
        dropped[16 + 7] = 6

        #expect(RouteAnswer(try message(Self.unreachable)) == nil)
        #expect(RouteAnswer(try message(dropped)) == nil)
    }

    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        return UInt16(4 + value.count).bytes + type.bytes + value + padding
    }

    /// What the kernel says of an interface.
    private static func link(
        type: UInt16 = 1, flags: UInt32 = 0x1_1043, driver: String? = nil, carrierChanges: UInt32 = 2
    ) -> [UInt8] {
        var payload: [UInt8] = [0, 0] + type.bytes + UInt32(4).bytes + flags.bytes + UInt32(0).bytes
        payload += attribute(3, Array("eth0".utf8) + [0])
        payload += attribute(35, carrierChanges.bytes)
        if let driver { payload += attribute(18, attribute(1, Array(driver.utf8) + [0])) }
        return UInt32(16 + payload.count).bytes + UInt16(16).bytes + [0, 0] + UInt32(7).bytes + UInt32(0).bytes
            + payload
    }

    @Test(
        "an interface is a tunnel by its driver or its type",
        arguments: [
            (nil, 1, .other), ("tun", 65534, .tunnel), ("tun", 1, .tunnel), ("wireguard", 65534, .tunnel),
            ("sit", 776, .tunnel), (nil, 768, .tunnel), ("ipip", 768, .tunnel), ("gretap", 1, .tunnel),
            ("ppp", 512, .pointToPoint), (nil, 512, .pointToPoint), ("bridge", 1, .other), ("vlan", 1, .other),
            ("wwan", 519, .other), (nil, 65534, .other), ("bond", 1, .other),
        ] as [(String?, UInt16, NetworkLink.Kind)])
    func kinds(driver: String?, type: UInt16, kind: NetworkLink.Kind) throws {
        let link = try #require(NetworkLink(message(Self.link(type: type, driver: driver))))

        #expect(link.kind == kind)
        #expect(link.index == 4 && link.carrierChanges == 2 && link.isRunning)
    }

    @Test("the loopback is one, and an interface without a carrier or switched off does not run")
    func flags() throws {
        #expect(try NetworkLink(message(Self.link(type: 772, flags: 0x1_0049)))?.kind == .loopback)
        #expect(try NetworkLink(message(Self.link(flags: 0x1003)))?.isRunning == false)
        #expect(try NetworkLink(message(Self.link(flags: 0x1002)))?.isRunning == false)
    }

    @Test("an answer of another kind is none")
    func kindsOfAnswers() throws {
        #expect(RouteAnswer(try message(Self.link())) == nil)
        #expect(NetworkLink(try message(Self.route)) == nil)
    }

    @Test("several messages come at once")
    func several() {
        let messages = NetlinkMessage.parse(Self.route + Self.unreachable + Self.link())

        #expect(messages.map(\.type) == [24, 2, 16])
    }

    @Test("what is cut off anywhere is no message, and nothing beyond its end is read")
    func cut() {
        for whole in [Self.route, Self.routeSix, Self.unreachable, Self.link(driver: "tun")] {
            for count in whole.indices { #expect(NetlinkMessage.parse(Array(whole[..<count])).isEmpty) }
        }
    }

    @Test(
        "lengths that lie end what is read, and hold nothing up", arguments: [0, 1, 3, 200, 65535] as [UInt16])
    func lies(length: UInt16) throws {
        var header = Self.route
        header.replaceSubrange(0..<4, with: UInt32(length).bytes)
        var attribute = Self.route
        attribute.replaceSubrange(28..<30, with: length.bytes)
        var nested = Self.link(driver: "tun")
        nested.replaceSubrange((nested.count - 8)..<(nested.count - 6), with: length.bytes)

        #expect(NetlinkMessage.parse(header).isEmpty)
        #expect(RouteAnswer(try message(attribute)) == nil)
        #expect(try NetworkLink(message(nested))?.kind == .other)
    }

    @Test("no bytes end the program", arguments: 0..<200)
    func noise(seed: UInt8) throws {
        var state = UInt32(seed) &* 2_654_435_761 &+ 1
        var bytes = Self.link(driver: "wireguard")
        for _ in 0..<8 {
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes[16 + Int(state >> 8) % (bytes.count - 16)] = UInt8(truncatingIfNeeded: state >> 24)
        }

        let message = try message(bytes)

        #expect(RouteAnswer(message) == nil)
        #expect(NetworkLink(message) != nil)
    }

    @Test("a request is written as the kernel reads it")
    func request() throws {
        let request = NetlinkMessage.request(
            26, sequence: 9, header: [2, 32] + [UInt8](repeating: 0, count: 10), attributes: [(1, [198, 41, 0])])

        let message = try message(request)
        #expect(message.type == 26 && message.sequence == 9 && request.count % 4 == 0)
        #expect(message.attributes(after: 12)[1] == [198, 41, 0])
    }
}
