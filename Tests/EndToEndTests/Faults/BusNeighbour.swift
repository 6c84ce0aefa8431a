import DBusTestSupport
import EventLoop

@testable import DBus

/// A service on the bus that answers as a test says, or never.
@ServiceActor
final class BusNeighbour {
    /// What a call gets; `nil` for no answer at all.
    typealias Answer = @ServiceActor (Message) -> [Value]?

    var answer: Answer
    /// Whoever has called, by member, in order.
    let calls = Events<String>()
    /// How many have called.
    private(set) var count = 0

    private var transport: Transport!
    private let owned = Events<Void>()
    /// To whom signals go.
    private var caller: BusName?

    init(_ name: BusName, on bus: PrivateBus, answer: @escaping Answer = { _ in nil }) async throws {
        self.answer = answer
        transport = try Transport(bus.address) { [weak self] in self?.receive($0) }
        let request = Message.methodCall(to: .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName")
        try request.append(name.string, UInt32(4))
        transport.send(request)
        try await owned.next()
    }

    /// Comes back once somebody has called this.
    func called(_ member: String) async throws {
        while try await calls.next() != member {}
    }

    func emit<each T: DBusType>(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName, _ values: repeat each T
    ) throws {
        let signal = Message.signal(path, interface, member, to: caller)
        try signal.append(repeat each values)
        transport.send(signal)
    }

    /// Leaves as a program that is killed.
    func die() { transport.close() }

    private func receive(_ message: Message) {
        guard message.kind == .methodCall, let sender = message.sender else {
            if message.kind == .methodReturn { owned.add(()) }
            return
        }
        caller = sender
        count += 1
        calls.add(message.member?.string ?? "")
        guard let values = answer(message) else { return }
        let reply = Message.methodReturn(to: sender, serial: message.serial)
        for value in values { try? reply.append(value) }
        transport.send(reply)
    }
}
