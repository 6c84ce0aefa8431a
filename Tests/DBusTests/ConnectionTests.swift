import DBus
import DBusTestSupport
import EventLoop
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConnectionTests {
    init() { EventLoop.startThread() }

    @Test("a connection has a unique name of its own")
    @ServiceActor
    func uniqueNames() async throws {
        let bus = try await PrivateBus()

        let (one, other) = (try bus.connect(), try bus.connect())

        #expect(one.uniqueName.isUnique)
        #expect(one.uniqueName != other.uniqueName)
    }
}
