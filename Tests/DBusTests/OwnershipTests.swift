import DBus
import DBusTestSupport
import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OwnershipTests {
    init() { EventLoop.startThread() }

    @Test("a name is owned by the first who asks, and taken for everyone else")
    @ServiceActor
    func requestName() async throws {
        let bus = try await PrivateBus()
        let (one, other) = (try bus.connect(), try bus.connect())

        let outcomes = [
            try await one.requestName("org.example.Name"), try await other.requestName("org.example.Name"),
            try await one.requestName("org.example.Name"),
        ]

        #expect(outcomes == [.owned, .taken, .owned])
    }

    @Test("a name that the bus does not let us own is an error")
    @ServiceActor
    func forbiddenName() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()

        await #expect(throws: BusError.self) { try await connection.requestName("org.freedesktop.DBus") }
    }

    @Test("whoever follows a name is told of each owner and of the end")
    @ServiceActor
    func owners() async throws {
        let bus = try await PrivateBus()
        let (watcher, owner) = (try bus.connect(), try bus.connect())
        let (owners, sink) = AsyncStream.makeStream(of: BusName?.self)
        let subscription = watcher.watchOwner(of: "org.example.Name") { sink.yield($0) }
        try await watcher.settle()
        var iterator = owners.makeAsyncIterator()

        _ = try await owner.requestName("org.example.Name")
        #expect(await iterator.next() == .some(owner.uniqueName))
        owner.close()
        #expect(await iterator.next() == .some(nil))

        subscription.cancel()
        #expect(try await watcher.ruleCount() == 0)
    }

    @Test("peers far beyond the stock bus's limit of rules are all followed, and the rules go with the peers")
    @ServiceActor
    func manyPeers() async throws {
        let bus = try await PrivateBus()
        let watcher = try bus.connect()
        var peers = try (0..<600).map { _ in try bus.connect() }
        let names = Set(peers.map(\.uniqueName))
        let (gone, sink) = AsyncStream.makeStream(of: BusName.self)
        let subscriptions = peers.map { peer in
            let name = peer.uniqueName
            return watcher.watchOwner(of: name) { owner in if owner == nil { sink.yield(name) } }
        }

        let rulesWhileThere = try await watcher.ruleCount()
        peers.removeAll()
        var seen: Set<BusName> = []
        for await name in gone {
            seen.insert(name)
            if seen.count == 600 { break }
        }

        #expect(rulesWhileThere == 401)
        #expect(seen == names)
        #expect(try await watcher.ruleCount() == 0)
        _ = subscriptions
    }

    @Test("the bus tells which user and process a peer is, and that a peer has gone")
    @ServiceActor
    func credentials() async throws {
        let bus = try await PrivateBus()
        let (asker, peer) = (try bus.connect(), try bus.connect())

        let credentials = try await asker.credentials(of: peer.uniqueName)
        let name = peer.uniqueName
        peer.close()
        let failure: BusError?
        do {
            while true { _ = try await asker.credentials(of: name) }
        } catch { failure = error }

        #expect(credentials.userID == getuid())
        #expect(credentials.processID == UInt32(getpid()))
        #expect(failure?.name == "org.freedesktop.DBus.Error.NameHasNoOwner")
    }

    @Test("a bus that is not there is an error that says so")
    @ServiceActor
    func noBus() {
        #expect(throws: BusError.self) { try Connection(.address("unix:path=/nonexistent/bus")) }
        #expect(throws: BusError.self) { try Connection(.address("no address")) }
    }
}
