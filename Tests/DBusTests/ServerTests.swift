import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServerTests {
    init() { EventLoop.startThread() }

    @Test("a call without an interface is refused")
    @ServiceActor
    func noInterface() async throws {
        let service = try await TestService()
        let message = Message.methodCall(to: service.server.uniqueName, TestService.path, nil, "Note")
        try message.append("x")

        let failure = await service.failure { () throws(BusError) in _ = try await service.client.call(message) }

        #expect(failure?.name == RefusedCall.unknownMethod)
        #expect(service.object.notes.isEmpty)
    }

    @Test("properties are read, written, and listed as far as the sender may read them")
    @ServiceActor
    func properties() async throws {
        let service = try await TestService()

        try await service.properties("Set", TestService.interface.string, "Level", Variant(.uint32(6)))
        let level = try await service.properties("Get", TestService.interface.string, "Level", returning: Variant.self)
        let all = try await service.properties(
            "GetAll", TestService.interface.string, returning: [String: Variant].self)
        service.object.friend = service.client.uniqueName
        let allOfAFriend = try await service.properties(
            "GetAll", TestService.interface.string, returning: [String: Variant].self)

        #expect(level == Variant(.uint32(6)))
        #expect(service.object.level == 6)
        #expect(
            all == [
                "Name": Variant(.string("first")), "Level": Variant(.uint32(6)), "Version": Variant(.uint32(3)),
                "Moment": Variant(.structure([.uint64(1), .uint64(2)])),
            ])
        #expect(allOfAFriend["Secret"] == Variant(.string("hidden")))
    }

    @Test("changes of properties follow the reply as one signal, each property once, with its last value")
    @ServiceActor
    func propertyChanges() async throws {
        let service = try await TestService()
        let rule = MatchRule(sender: service.server.uniqueName, member: "PropertiesChanged")
        let listener = Listener(service.client, rule)
        let order = Order()
        let subscription = service.client.subscribe(to: rule) { _ in order.events.append("changed") }

        // On the loop throughout, so that what goes on after the reply comes before what the bus sends next.
        try await onLoop {
            try await service.client.settle()
            for name in ["second", "third"] {
                try await service.call("Rename", name)
                order.events.append("replied")
                _ = try await listener.next()
            }
            try await service.call("Rename", "fourth")
        }
        let changed = try await listener.next()

        #expect(order.events.prefix(4) == ["replied", "changed", "replied", "changed"])
        #expect(changed.path == TestService.path)
        let (interface, values, invalidated) = try changed.read(
            as: String.self, [String: Variant].self, [String].self)
        #expect(interface == TestService.interface.string)
        #expect(values == ["Name": Variant(.string("fourth")), "Level": Variant(.uint32(7))])
        #expect(invalidated.isEmpty)
        subscription.cancel()
    }

    @ServiceActor private final class Order { var events: [String] = [] }

    @Test("a handler that waits does not hold up the calls after it")
    @ServiceActor
    func concurrentHandlers() async throws {
        let service = try await TestService()
        let waited = Task { @ServiceActor in try await service.call("Wait", "slow", returning: UInt32.self) }
        await service.object.callsHeld(1)

        try await service.call("Note", "quick")
        service.object.releaseAll()

        #expect(try await waited.value == 0)
        #expect(service.object.notes == ["slow began", "quick", "slow ended"])
    }

    @Test("handlers begin in the order of the bus, whether they wait or not")
    @ServiceActor
    func order() async throws {
        let service = try await TestService()
        var calls: [Task<Void, any Error>] = []
        for number in 0..<50 {
            calls.append(
                Task { @ServiceActor in
                    if number.isMultiple(of: 2) {
                        _ = try await service.call("Wait", "\(number)", returning: UInt32.self)
                    } else {
                        try await service.call("Note", "\(number)")
                    }
                })
        }
        await service.object.callsHeld(25)
        try await service.call("Note", "last")

        let begun = service.object.notes
        service.object.releaseAll()
        for call in calls { try await call.value }

        #expect(begun == (0..<50).map { $0.isMultiple(of: 2) ? "\($0) began" : "\($0)" } + ["last"])
    }

    @Test("beyond the calls that one peer may have under way it is refused, and others are served")
    @ServiceActor
    func callLimit() async throws {
        let service = try await TestService()
        let other = try service.bus.connect()
        let held = (0..<ObjectTree.callLimit).map { number in
            Task { @ServiceActor in try await service.call("Wait", "\(number)", returning: UInt32.self) }
        }
        await service.object.callsHeld(ObjectTree.callLimit)

        let failure = await service.failure { () throws(BusError) in try await service.call("Note", "more") }
        try await other.call(
            service.server.uniqueName, TestService.path, TestService.interface, "Note", "from another")
        service.object.releaseAll()
        for call in held { _ = try await call.value }
        try await service.call("Note", "afterwards")

        #expect(failure?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        #expect(
            service.object.notes.filter { !$0.contains(" began") && !$0.contains(" ended") } == [
                "from another", "afterwards",
            ])
    }

    @Test("calls of megabytes that wait do not stop the connection from reading")
    @ServiceActor
    func largeWaitingCalls() async throws {
        // Without deadlines, which a machine with much else to do would miss.
        let service = try await TestService(clientClock: ManualClock())
        let large = String(repeating: "x", count: MethodCall.sizeLimit - 1024)
        let held = (0..<200).map { _ in
            Task { @ServiceActor in try await service.call("Wait", large, returning: UInt32.self) }
        }

        await service.object.callsHeld(200)
        try await service.call("Note", "read")
        service.object.releaseAll()

        for call in held { _ = try await call.value }
        #expect(service.object.notes.contains("read"))
    }

    @Test("a peer that floods the connection does not keep the loop from its other work")
    @ServiceActor
    func flood() async throws {
        let service = try await TestService()
        for _ in 0..<20_000 {
            let note = Message.methodCall(
                to: service.server.uniqueName, TestService.path, TestService.interface, "Note")
            note.expectsReply = false
            try note.append("x")
            service.client.send(note)
        }

        let turns = try await onLoop {
            var turns = 0
            while service.object.notes.count < 20_000 {
                await withCheckedContinuation { continuation in
                    Self.timer = LoopClock.shared.after(.zero) { continuation.resume() }
                }
                turns += 1
            }
            return turns
        }

        // A turn of the loop takes 64 messages, and a timer that is due fires every turn.
        #expect(turns > 20_000 / 64 / 2)
    }

    @ServiceActor private static var timer: Timer?

    @Test("an object that is removed is gone, and its path with it")
    @ServiceActor
    func removal() async throws {
        let service = try await TestService()

        service.server.objects.remove(at: TestService.path)
        let failure = await service.failure { () throws(BusError) in _ = try await service.introspect("/org/example") }

        #expect(failure == BusError(RefusedCall.unknownMethod, "Object does not exist at path “/org/example”"))
    }
}
