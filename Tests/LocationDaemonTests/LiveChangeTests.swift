import Authorization
import DBus
import DBusTestSupport
import EventLoop
import GeoClueAPI
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// What reaches clients that run.
@Suite(.timeLimit(.minutes(1))) struct LiveChangeTests {
    init() { EventLoop.startThread() }

    /// An application `a` that has been refused while it ran, and whoever has refused it.
    @ServiceActor
    private func heldBack(_ lab: Lab) async throws -> (App, Administrator) {
        let a = try await lab.running("a")
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", "deny")
        try await a.becomes(active: false)
        return (a, administrator)
    }

    @Test(
        "taken back: inactive and silent at once, its locations gone; others untouched; given back: active, with a fix")
    @ServiceActor
    func takeBack() async throws {
        let lab = try await Lab()
        let a = try await lab.running("a")
        let b = try await lab.app("b")
        try await b.start()
        let given = try await b.nextLocation()
        let old = try #require(try await a.get("Location").path)
        let administrator = try lab.administrator()

        try await administrator.set("claimed:a", "deny")
        try await a.becomes(active: false)
        let told = a.updateCount
        for step in 1...3 {
            await lab.clock.advance(by: .seconds(1))
            lab.receiver.send(48.1372 + Double(step) / 100_000, 11.5761)
        }
        try await lab.settle(a.connection)

        #expect(a.updateCount == told)
        #expect(try await !a.isActive)
        #expect(await error { _ = try await a.read(old) }?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        #expect(try await b.isActive)
        #expect(try await b.read(given)["Latitude"]?.value != nil)
        #expect(try await lab.isInUse)

        try await administrator.set("claimed:a", "allow")
        try await a.becomes(active: true)
        #expect(try await a.nextPlace() == [48.13723, 11.5761])
        #expect(lab.receiver.starts == 1)
    }

    @Test("a fix that came before the refusal and waits to be sent does not reach the application")
    @ServiceActor
    func queued() async throws {
        let lab = try await Lab()
        let a = try await lab.running("a")
        let told = a.updateCount

        // In one turn of the loop: the refusal is there before the fix is dealt with.
        let refusal = Task.immediate { @ServiceActor in
            await lab.authorizer.setRecord(
                AuthorizationRecord(
                    userID: 1000, key: "claimed:a", decision: .deny, author: .user(1000), created: Timestamp(seconds: 1)
                ))
        }
        lab.receiver.send(48.1372, 11.5761)
        _ = await refusal.value
        try await a.becomes(active: false)
        try await lab.settle(a.connection)

        #expect(a.updateCount == told)
    }

    @Test("a fix that comes in the moment of being allowed again is told")
    @ServiceActor
    func betweenTurns() async throws {
        let lab = try await Lab()
        let agent = SilentAgent()
        try lab.authorizer.agentRegistered(agent, from: .unnamed)
        lab.authorizer.ceilingChanged(of: agent, to: .exact)
        let app = try await lab.running()
        // Somebody who is not held back keeps the receiver running.
        let other = try await lab.app("other", of: 1001)
        try await other.start()
        lab.authorizer.ceilingChanged(of: agent, to: .none)
        try await app.becomes(active: false)
        await lab.clock.advance(by: .seconds(1))

        await ServiceActor.task {
            lab.authorizer.ceilingChanged(of: agent, to: .exact)
            // Right after the clients have been looked at again, and before anything that follows from it.
            EventLoop.shared.defer { lab.receiver.send(48.13716, 11.57613) }
        }.value

        #expect(try await app.nextPlace() == Lab.place)
        #expect(try await app.nextPlace() == [48.13716, 11.57613])
    }

    @Test("whoever is held back goes on when it may again, however often it has asked in between")
    @ServiceActor
    func asksWhileHeldBack() async throws {
        let lab = try await Lab()
        let (a, administrator) = try await heldBack(lab)

        #expect(await a.startError()?.message.contains("claimed:a") != nil)
        #expect(await a.startError() != nil)
        try await administrator.set("claimed:a", "allow")

        try await a.becomes(active: true)
        #expect(try await a.nextPlace() == Lab.place)
    }

    @Test("whoever is refused once more while held back, and may then, starts again by itself alone")
    @ServiceActor
    func refusedOnceWhileHeldBack() async throws {
        let lab = try await Lab()
        let (a, administrator) = try await heldBack(lab)
        try await administrator.set("claimed:a", ["decision": .string("deny"), "lifetime": .string("once")])

        #expect(await a.startError() != nil)
        try await administrator.set("claimed:other", "deny")
        try await lab.settle(a.connection)

        #expect(try await !a.isActive)
        #expect(await a.startError() == nil)
    }

    @Test("leave for one use lets nobody go on that was held back, and is used up by the next Start")
    @ServiceActor
    func onceWhileHeldBack() async throws {
        let lab = try await Lab(Lab.policy(.deny))
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", "allow")
        let (first, second) = (try await lab.running("a"), try await lab.app("a"))
        try await second.start()
        try await administrator.set("claimed:a", "deny")
        try await first.becomes(active: false)
        try await second.becomes(active: false)

        try await administrator.set("claimed:a", ["decision": .string("allow"), "lifetime": .string("once")])
        try await lab.settle(first.connection)

        #expect(try await !first.isActive)
        #expect(await second.startError() == nil)
        #expect(await first.startError() != nil)
    }

    @Test("what the application itself has stopped stays stopped, whatever is allowed")
    @ServiceActor
    func stopped() async throws {
        let lab = try await Lab()
        let (a, administrator) = try await heldBack(lab)

        try await a.stop()
        try await administrator.set("claimed:a", "allow")
        try await lab.settle(a.connection)

        #expect(try await !a.isActive)
        #expect(!lab.receiver.isRunning)
    }

    @Test("an agent's limit acts on the next fix: coarser, stopped, fine again; and it outlives the agent")
    @ServiceActor
    func ceiling() async throws {
        let lab = try await Lab()
        let agent = try await lab.agent()
        let a = try await lab.running("a")

        agent.limit(to: .city)
        try await lab.settle(agent.connection)
        lab.receiver.send(48.138, 11.577)
        let coarse = try await a.nextPlace()
        agent.limit(to: .none)
        try await a.becomes(active: false)
        agent.leave()
        try await lab.settle(a.connection)
        let alone = try await a.isActive
        let refusal = await (try lab.app("b")).startError()
        _ = try await lab.agent()
        try await a.becomes(active: true)
        lab.receiver.send(48.139, 11.578)

        #expect(coarse != [48.138, 11.577])
        #expect(!alone)
        #expect(refusal?.message.contains("switched off in the settings") == true)
        // What it begins with is the last fix, and then the new one.
        var places = [try await a.nextPlace()]
        while places.last != [48.139, 11.578] { places.append(try await a.nextPlace()) }
    }

    @Test("the user's own switch stops everything of that user and nobody else, and turns it on again")
    @ServiceActor
    func ownSwitch() async throws {
        let lab = try await Lab()
        let a = try await lab.running("a")
        let other = try await lab.app("a", of: 2)
        try await other.start()
        let administrator = try lab.administrator()

        try await administrator.set("*", "deny")
        try await a.becomes(active: false)
        let isOtherActive = try await other.isActive
        try await administrator.remove("*")
        try await a.becomes(active: true)

        #expect(isOtherActive)
    }

    @Test("a receiver that runs on after its clients stops at once where leave is taken back")
    @ServiceActor
    func noGrace() async throws {
        let lab = try await Lab(grace: .seconds(15))
        let a = try await lab.running("a")
        try await a.stop()
        try await lab.settle(a.connection)
        #expect(lab.receiver.isRunning)
        try await a.start()

        try await lab.administrator().set("*", "deny")
        await lab.receiver.demanded { $0 == nil }

        #expect(lab.receiver.starts == 1)
    }

    @Test("so it does where the clients had left before leave was taken back")
    @ServiceActor
    func noGraceLeft() async throws {
        let lab = try await Lab(grace: .seconds(15))
        let agent = try await lab.agent()
        let a = try await lab.running("a")
        try await a.stop()
        try await lab.settle(a.connection)
        #expect(lab.receiver.isRunning)

        agent.limit(to: .none)

        await lab.receiver.demanded { $0 == nil }
    }

    @Test("an agent that a reload takes off the list counts again when it is back on it, with what it says then")
    @ServiceActor
    func agentBack() async throws {
        let lab = try await Lab()
        let agent = try await lab.agent()
        let a = try await lab.running("a")

        lab.authorizer.policy.agentIDs = ["other"]
        agent.limit(to: .none)
        try await lab.settle(agent.connection)
        let whileUnlisted = try await a.isActive
        lab.authorizer.policy.agentIDs = ["shell", "other"]
        try await a.becomes(active: false)
        try await agent.register("shell")
        agent.limit(to: .exact)
        try await a.becomes(active: true)

        #expect(whileUnlisted)
    }

    @Test("leave that ends by itself ends the client, also when the system clock is set past the end")
    @ServiceActor
    func expiry() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let administrator = try lab.administrator()
        func set() async throws {
            try await administrator.set(
                "claimed:a",
                ["decision": .string("allow"), "expires": .int64(lab.clock.wallTime + 60_000_000)])
        }
        try await set()
        let a = try await lab.running("a")

        await lab.clock.advance(by: .seconds(60))
        try await a.becomes(active: false)
        try await set()
        try await a.becomes(active: true)
        try await lab.settle(a.connection)
        let told = a.updateCount
        lab.clock.stepWallTime(by: .seconds(61))
        lab.receiver.send(48.1372, 11.5761)
        try await a.becomes(active: false)
        try await lab.settle(a.connection)

        #expect(a.updateCount == told)
        #expect(lab.authorizer.records(of: 1000).isEmpty)
    }

    @Test("what was allowed for once runs on when it is used up, and the next Start asks")
    @ServiceActor
    func once() async throws {
        let lab = try await Lab(Lab.policy(.ask, agentWait: .zero))
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", ["decision": .string("allow"), "lifetime": .string("once")])
        let a = try await lab.running("a")

        try await administrator.set("claimed:b", "deny")
        lab.receiver.send(48.1372, 11.5761)
        let goesOn = try await a.nextPlace()
        try await a.stop()

        #expect(goesOn == [48.1372, 11.5761])
        #expect(await a.startError()?.message.contains("no agent") == true)
    }

    @Test("a record that is forgotten takes the leave with it that it was")
    @ServiceActor
    func forgotten() async throws {
        let lab = try await Lab(Lab.policy(.ask))
        let administrator = try lab.administrator()
        try await administrator.set("claimed:a", "allow")
        let a = try await lab.running("a")

        try await administrator.remove("claimed:a")

        try await a.becomes(active: false)
    }

    @ServiceActor
    private func error(_ body: () async throws -> Void) async -> BusError? {
        do {
            try await body()
            return nil
        } catch { return error as? BusError }
    }
}

extension Value {
    fileprivate var path: ObjectPath? { if case .objectPath(let path) = self { path } else { nil } }
}
