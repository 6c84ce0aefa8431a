import DBus
import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ValueTests {
    init() { EventLoop.startThread() }

    static let values: [Value] = [
        .byte(255), .bool(true), .bool(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max), .int64(.min),
        .uint64(.max), .double(-Double.greatestFiniteMagnitude), .double(.infinity), .string(""),
        .string("Zürich 🧭 \u{FFFE} \u{10FFFF}"), .objectPath("/"), .objectPath("/a/b"), .signature("a{sv}(ii)"),
        .signature(""), .array(of: "s", []), .array(of: "i", [.int32(1), .int32(2)]),
        .array(of: "as", [.array(of: "s", [.string("x")]), .array(of: "s", [])]),
        .dictionary(key: "s", value: "v", []),
        .dictionary(
            key: "u", value: "(sv)",
            [.init(key: .uint32(7), value: .structure([.string("a"), .variant(.variant(.byte(1)))]))]),
        .structure([.uint64(1), .uint64(2)]),
    ]

    @Test("every type comes back from the bus as it went", arguments: values)
    @ServiceActor
    func roundTrip(value: Value) async throws {
        let service = try await TestService()

        let echoed = try await service.call("Echo", Variant(value), returning: Variant.self)

        #expect(echoed.value == value)
    }

    @Test("typed values come back as they went")
    func typedRoundTrip() throws {
        let message = Message.signal("/", "org.example.Test", "S", to: nil)

        try message.append(
            UInt8(1), Int16(-2), UInt16(3), Int32(-4), Int64(-5), ["a": [1.5, 2.5]], Structure("x", ObjectPath.root),
            [Variant(.byte(1))], Signature(trusted: "as"))
        let values = try message.read(
            as: UInt8.self, Int16.self, UInt16.self, Int32.self, Int64.self, [String: [Double]].self,
            Structure<String, ObjectPath>.self, [Variant].self, Signature.self)

        #expect(message.signature == "ynqixa{sad}(so)avg")
        #expect((values.0, values.1, values.2, values.3, values.4) == (1, -2, 3, -4, -5))
        #expect(values.5 == ["a": [1.5, 2.5]])
        #expect(values.6.fields == ("x", .root))
        #expect(values.7 == [Variant(.byte(1))])
        #expect(values.8 == "as")
    }

    @Test("a descriptor arrives as another one for the same file")
    @ServiceActor
    func descriptors() async throws {
        let service = try await TestService()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))

        let echoed = try await service.call("Echo", Variant(.unixFD(UnixFD(writer))), returning: Variant.self)

        guard case .unixFD(let copy) = echoed.value else {
            Issue.record("not a descriptor: \(echoed.value)")
            return
        }
        #expect(copy.descriptor.raw != writer.raw)
        #expect(fcntl(copy.descriptor.raw, F_GETFD) & FD_CLOEXEC != 0)
        #expect(write(copy.descriptor.raw, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(reader.raw, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
    }

    @Test("the deepest nesting that D-Bus allows passes the bus; one more is refused here and not by the bus")
    @ServiceActor
    func nesting() async throws {
        let service = try await TestService()
        // The argument is a variant itself.
        let deepest = Self.nested(MessageWriter.depthLimit - 1)

        let echoed = try await service.call("Echo", Variant(deepest), returning: Variant.self)
        let failure = await service.failure { () throws(BusError) in
            _ = try await service.call("Echo", Variant(Self.nested(MessageWriter.depthLimit)), returning: Variant.self)
        }

        #expect(echoed.value == deepest)
        #expect(failure?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        let sum = try await service.call("Add", 1.0, 2.0, returning: Double.self)
        #expect(sum == 3)
    }

    @Test("arrays nest 32 deep and no deeper")
    @ServiceActor
    func arrays() async throws {
        let service = try await TestService()
        func arrays(_ depth: Int) -> Value {
            (1..<depth).reduce(.array(of: "s", [.string("x")])) { inner, _ in .array(of: inner.signature, [inner]) }
        }

        let echoed = try await service.call("Echo", Variant(arrays(32)), returning: Variant.self)

        #expect(echoed.value == arrays(32))
        #expect(throws: WriteError.self) { try Self.message().append(Variant(arrays(33))) }
    }

    @Test(
        "what D-Bus cannot carry is an error and ends nothing",
        arguments: [
            Value.string("a\0b"), .structure([]), .array(of: "i", [.string("x")]), .array(of: "ii", []),
            .array(of: "", []), .dictionary(key: "v", value: "s", []), .dictionary(key: "s", value: "", []),
            .dictionary(key: "s", value: "i", [.init(key: .byte(1), value: .int32(1))]),
            .dictionary(key: "s", value: "i", [.init(key: .string("a"), value: .string("b"))]),
            .structure([.array(of: "", []), .byte(1)]), .unixFD(UnixFD(FileDescriptor(adopting: -1))),
            .structure([.variant(.structure([]))]),
        ])
    func unwritable(value: Value) {
        #expect(throws: WriteError.self) { try Self.message().append(Variant(value)) }
        #expect(throws: WriteError.self) { try Self.message().append(value) }
    }

    @Test("a message that is longer than the bus takes, or with more descriptors, is refused before it is sent")
    func tooLarge() throws {
        let text = String(repeating: "x", count: MessageWriter.sizeLimit)
        let descriptor = UnixFD(try #require(FileDescriptor(duplicating: 0)))

        #expect(throws: WriteError.tooLarge) { try Self.message().append(text) }
        #expect(throws: WriteError.tooLarge) {
            try Self.message().append(Array(repeating: descriptor, count: MessageWriter.descriptorLimit + 1))
        }
        try Self.message().append(Array(repeating: descriptor, count: MessageWriter.descriptorLimit))
    }

    @Test("reading takes no more memory than it may, however short the elements are on the wire")
    func readingBudget() throws {
        let message = Self.message()
        try message.append([UInt8](repeating: 7, count: 10_000))

        #expect(throws: ReadError.tooLarge) { try message.read(as: [UInt8].self, sizeLimit: 64 << 10) }
        #expect(try message.read(as: [UInt8].self).count == 10_000)
    }

    @Test("a value of another type is an error that names both types")
    func mismatch() throws {
        let message = Self.message()
        try message.append("text", [UInt32]())

        #expect(throws: ReadError.unexpectedType(expected: "u", found: "s")) { try message.read(as: UInt32.self) }
        #expect(throws: ReadError.unexpectedType(expected: "as", found: "au")) {
            try message.read(as: String.self, [String].self)
        }
        #expect(throws: ReadError.unexpectedType(expected: "s", found: "")) {
            try message.read(as: String.self, [UInt32].self, String.self)
        }
    }

    private static func message() -> Message { .signal("/", "org.example.Test", "S", to: nil) }

    private static func nested(_ depth: Int) -> Value {
        (0..<depth).reduce(.byte(1)) { inner, _ in .variant(inner) }
    }
}
