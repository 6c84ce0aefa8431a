import DBus
import DBusTestSupport
import EventLoop
import LocationTestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CallTests {
    init() { EventLoop.startThread() }

    @Test("an error reply is thrown with its name and its text")
    @ServiceActor
    func errorReply() async throws {
        let service = try await TestService()

        let failure = await service.failure { () throws(BusError) in try await service.call("Fail") }

        #expect(failure == BusError("org.example.Error.Broken", "it is broken"))
    }

    @Test("a call to a name that nobody owns fails with the bus's error")
    @ServiceActor
    func nobody() async throws {
        let service = try await TestService()

        let failure = await service.failure { () throws(BusError) in
            _ = try await service.client.call(.methodCall(to: "org.example.Nobody", "/", "org.example.Test", "Fail"))
        }

        #expect(failure?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
    }

    @Test("a reply of another type than expected is an error")
    @ServiceActor
    func unexpectedReply() async throws {
        let service = try await TestService()

        let failure = await service.failure { () throws(BusError) in
            _ = try await service.call("Add", 1.0, 2.0, returning: String.self)
        }

        #expect(failure == .invalidArguments("expected type “s” but got “d”"))
    }

    @Test("a reply with more than was expected is an error; where nothing was, it may hold anything")
    @ServiceActor
    func longerReply() async throws {
        let service = try await TestService()
        service.server.objects.add(Pair(), at: "/org/example/Pair")

        let failure = await service.failure { () throws(BusError) in
            _ = try await service.client.call(
                service.server.uniqueName, "/org/example/Pair", Pair.interface.name, "Both", returning: Double.self)
        }

        #expect(failure == .invalidArguments("expected type “d” but got “du”"))
        try await service.client.call(service.server.uniqueName, "/org/example/Pair", Pair.interface.name, "Both")
    }

    @Test("at its deadline a call ends with NoReply, and the late reply is nobody's")
    @ServiceActor
    func deadline() async throws {
        let clock = ManualClock()
        let service = try await TestService(clientClock: clock)
        async let failure = service.failure { () throws(BusError) in
            _ = try await service.call("Wait", "x", returning: UInt32.self)
        }
        await service.object.callsHeld(1)

        await clock.advance(by: .seconds(24))
        #expect(clock.pendingTimers == 1)
        await clock.advance(by: .seconds(1))

        #expect(await failure == .noReply)
        service.object.releaseAll()
        #expect(try await service.call("Add", 1.0, 2.0, returning: Double.self) == 3)
    }

    @Test("a reply ends the deadline")
    @ServiceActor
    func noDeadlineLeft() async throws {
        let clock = ManualClock()
        let service = try await TestService(clientClock: clock)

        _ = try await service.call("Add", 1.0, 2.0, returning: Double.self)

        #expect(clock.pendingTimers == 0)
    }

    @Test("a call of a cancelled task ends at once, and its reply is nobody's")
    @ServiceActor
    func cancellation() async throws {
        let service = try await TestService()
        let task = Task { @ServiceActor in
            await service.failure { () throws(BusError) in
                _ = try await service.call("Wait", "x", returning: UInt32.self)
            }
        }
        await service.object.callsHeld(1)

        task.cancel()

        #expect(await task.value == .cancelled)
        service.object.releaseAll()
        #expect(try await service.call("Add", 1.0, 2.0, returning: Double.self) == 3)
    }

    @Test("a task that is cancelled already does not wait for a reply")
    @ServiceActor
    func cancelledBefore() async throws {
        let service = try await TestService()

        let task = Task { @ServiceActor in
            withUnsafeCurrentTask { $0?.cancel() }
            return await service.failure { () throws(BusError) in
                _ = try await service.call("Wait", "x", returning: UInt32.self)
            }
        }

        #expect(await task.value == .cancelled)
    }

    @Test("losing the bus ends every waiting call and is told once; later calls fail at once")
    @ServiceActor
    func busLoss() async throws {
        let service = try await TestService()
        let (losses, sink) = AsyncStream.makeStream(of: Void.self)
        service.client.onDisconnect = { sink.yield() }
        let waiting = (0..<3).map { number in
            Task { @ServiceActor in
                await service.failure { () throws(BusError) in
                    _ = try await service.call("Wait", "\(number)", returning: UInt32.self)
                }
            }
        }
        await service.object.callsHeld(3)

        await service.bus.stop()
        var told = losses.makeAsyncIterator()
        await told.next()

        for task in waiting { #expect(await task.value == .disconnected) }
        let late = await service.failure { () throws(BusError) in
            _ = try await service.call("Add", 1.0, 2.0, returning: Double.self)
        }
        #expect(late == .disconnected)
        sink.finish()
        #expect(await told.next() == nil)
    }

    @Test("closing a connection ends its calls, and nothing that arrived before is handled any more")
    @ServiceActor
    func closing() async throws {
        let service = try await TestService()
        async let failure = service.failure { () throws(BusError) in
            _ = try await service.call("Wait", "x", returning: UInt32.self)
        }
        await service.object.callsHeld(1)
        var lost = false
        service.client.onDisconnect = { lost = true }

        service.client.close()

        #expect(await failure == .disconnected)
        #expect(!lost)
        #expect(service.client.isCongested == false)
    }

    @Test("two thousand calls at once each get their own reply")
    @ServiceActor
    func manyCalls() async throws {
        let service = try await TestService()

        let tasks = (0..<2000).map { number in
            Task { @ServiceActor in try await service.call("Add", Double(number), 0.5, returning: Double.self) }
        }

        for (number, task) in tasks.enumerated() { #expect(try await task.value == Double(number) + 0.5) }
    }

    @Test("a call that expects no reply gets none, neither a result nor an error")
    @ServiceActor
    func noReply() async throws {
        let service = try await TestService()
        let unanswered: [Message] = ["Note", "Fail", "Nope"].map { member in
            .methodCall(
                to: service.server.uniqueName, TestService.path, TestService.interface, MemberName(trusted: member))
        }
        try unanswered[0].append("noted")

        let tasks = unanswered.map { message in
            message.expectsReply = false
            return Task { @ServiceActor in
                await service.failure { () throws(BusError) in _ = try await service.client.call(message) }
            }
        }
        // The bus keeps the order: had there been replies, they would have come before this one.
        await Task.yield()
        _ = try await service.call("Add", 1.0, 2.0, returning: Double.self)
        tasks.forEach { $0.cancel() }

        #expect(service.object.notes == ["noted"])
        for task in tasks { #expect(await task.value == .cancelled) }
    }
}

/// An object that has two values to give.
private final class Pair: BusObject {
    static let interface = Interface<Pair>("org.example.Pair") {
        Method("Both", returns: "number", "count", access: .anyone) { (_: Pair) in
            { (_: MethodCall) in (1.5, UInt32(2)) }
        }
    }

    var interfaces: [any ServedInterface] { [Bound(Self.interface, to: self)] }
}
