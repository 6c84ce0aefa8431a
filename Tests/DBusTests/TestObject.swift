import DBus
import DBusTestSupport
import EventLoop

/// An object with a row of every kind.
@ServiceActor
final class TestObject: BusObject {
    static let interface = Interface<TestObject>("org.example.Test") {
        Method("Echo", "value", returns: "value", access: .anyone, body: TestObject.echo)
        Method("Add", "left", "right", returns: "sum", access: .anyone, body: TestObject.add)
        Method("Wait", "label", returns: "number", access: .anyone, body: TestObject.wait)
        Method("Note", "label", access: .anyone, body: TestObject.note)
        Method("Fail", access: .anyone, body: TestObject.fail)
        Method("Rename", "name", access: .anyone, body: TestObject.rename)
        Method("Refused", access: Access(sender: { _, _ in .accessDenied("not you") }), body: TestObject.nothing)
        Method(
            "RefusedLater",
            access: Access(caller: { _, _ in
                await Task.yield()
                return .accessDenied("not you, on reflection")
            }), body: TestObject.nothing)
        Property("Name", access: .anyone, get: { $0.name }, set: { $0.name = $1 })
        Property("Level", access: .anyone, get: { $0.level }, set: { try $0.setLevel($1) })
        Property("Version", changes: .constant, access: .anyone, get: { _ in UInt32(3) })
        Property("Moment", changes: .silent, access: .anyone, get: { _ in Structure(UInt64(1), UInt64(2)) })
        Property("Secret", access: Access(sender: { $0.refusal(of: $1) }), get: { $0.secret }, set: { $0.secret = $1 })
        Signal("Ticked", "number", "path", of: UInt32.self, ObjectPath.self)
    }

    nonisolated let path: ObjectPath
    var name = "first"
    var level: UInt32 = 4
    var secret = "hidden"
    var friend: BusName?
    private(set) var notes: [String] = []
    private let connection: Connection
    private var held: [(label: String, continuation: CheckedContinuation<UInt32, Never>)] = []
    private var awaited: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(on connection: Connection, at path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }

    /// Comes back once `count` calls of `Wait` are held.
    func callsHeld(_ count: Int) async {
        if held.count < count { await withCheckedContinuation { awaited = (count, $0) } }
    }

    func releaseAll() {
        let released = held
        held = []
        for (index, call) in released.enumerated() { call.continuation.resume(returning: UInt32(index)) }
    }

    private func refusal(of sender: BusName) -> BusError? { sender == friend ? nil : .accessDenied("Access denied") }

    private func setLevel(_ level: UInt32) throws {
        guard level < 9 else { throw BusError.invalidArguments("there is no such level") }
        self.level = level
    }

    private func echo(_ call: MethodCall, value: Variant) -> Variant { value }

    private func add(_ call: MethodCall, left: Double, right: Double) -> Double { left + right }

    private func wait(_ call: MethodCall, label: String) async -> UInt32 {
        notes.append("\(label) began")
        let number = await withCheckedContinuation { continuation in
            held.append((label, continuation))
            if let awaited, held.count >= awaited.count {
                self.awaited = nil
                awaited.continuation.resume()
            }
        }
        notes.append("\(label) ended")
        return number
    }

    private func note(_ call: MethodCall, label: String) { notes.append(label) }

    private func fail(_ call: MethodCall) throws { throw BusError("org.example.Error.Broken", "it is broken") }

    private func rename(_ call: MethodCall, name: String) {
        self.name = name
        level += 1
        for property: MemberName in ["Name", "Level", "Name"] {
            connection.propertyChanged(property, of: self, at: path, in: Self.interface, to: nil)
        }
    }

    private func nothing(_ call: MethodCall) {}
}

/// A bus with one connection that serves a ``TestObject`` and one that calls it.
@ServiceActor
struct TestService {
    nonisolated static let path: ObjectPath = "/org/example/Object"
    nonisolated static let interface: InterfaceName = "org.example.Test"

    let bus: PrivateBus
    let server: Connection
    let client: Connection
    let object: TestObject

    init(clientClock: any Clock = LoopClock.shared) async throws {
        bus = try await PrivateBus()
        server = try bus.connect()
        client = try bus.connect(clock: clientClock)
        object = TestObject(on: server, at: Self.path)
        server.objects.add(object, at: Self.path)
    }

    func call<each A: DBusType, each R: DBusType>(
        _ member: MemberName, _ arguments: repeat each A, returning results: repeat (each R).Type
    ) async throws(BusError) -> (repeat each R) {
        try await client.call(
            server.uniqueName, Self.path, Self.interface, member, repeat each arguments,
            returning: repeat each results)
    }

    func properties<each A: DBusType, each R: DBusType>(
        _ member: MemberName, _ arguments: repeat each A, returning results: repeat (each R).Type
    ) async throws(BusError) -> (repeat each R) {
        try await client.call(
            server.uniqueName, Self.path, "org.freedesktop.DBus.Properties", member, repeat each arguments,
            returning: repeat each results)
    }

    func introspect(_ path: ObjectPath) async throws(BusError) -> String {
        try await client.call(
            server.uniqueName, path, "org.freedesktop.DBus.Introspectable", "Introspect", returning: String.self)
    }

    /// The error that `body` ends with.
    func failure(_ body: @ServiceActor () async throws(BusError) -> Void) async -> BusError? {
        do throws(BusError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}
