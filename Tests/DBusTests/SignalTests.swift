import DBus
import DBusTestSupport
import EventLoop
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SignalTests {
    init() { EventLoop.startThread() }

    @Test("a signal with a destination reaches that peer and no other; one without reaches all who listen")
    @ServiceActor
    func destination() async throws {
        let bus = try await PrivateBus()
        let (sender, one, other) = (try bus.connect(), try bus.connect(), try bus.connect())
        let rule = MatchRule(sender: sender.uniqueName, interface: "org.example.Test")
        let (atOne, atOther) = (Listener(one, rule), Listener(other, rule))
        try await one.settle()
        try await other.settle()

        try sender.emit("/a", "org.example.Test", "Private", to: one.uniqueName, UInt32(1))
        try sender.emit("/a", "org.example.Test", "Public", to: nil, UInt32(2))

        #expect(try await atOne.next().member == "Private")
        #expect(try await atOne.next().member == "Public")
        #expect(try await atOther.next().member == "Public")
    }

    @Test("signals of one template begin alike and go their own ways, and nobody else gets them")
    @ServiceActor
    func template() async throws {
        let bus = try await PrivateBus()
        let (sender, one, other) = (try bus.connect(), try bus.connect(), try bus.connect())
        let rule = MatchRule(sender: sender.uniqueName, path: "/a")
        let (atOne, atOther) = (Listener(one, rule), Listener(other, rule))
        try await one.settle()
        try await other.settle()
        let template = try SignalTemplate(
            "/a", "org.example.Test", "Moved", to: one.uniqueName, beginningWith: "ship", Int32(7))
        let changes = try SignalTemplate.propertiesChanged("/a", "org.example.Test", to: one.uniqueName)

        try sender.emit(template, 1.5)
        try sender.emit(template, "elsewhere")
        try sender.emitPropertyChanged(changes, "Speed", 3.5)
        try sender.emit("/a", "org.example.Test", "Last", to: nil)

        #expect(try await atOne.next().read(as: String.self, Int32.self, Double.self) == ("ship", Int32(7), 1.5))
        let second = try await atOne.next()
        #expect(second.member == "Moved" && second.interface == "org.example.Test")
        #expect(try second.read(as: String.self, Int32.self, String.self) == ("ship", Int32(7), "elsewhere"))
        let third = try await atOne.next()
        #expect(third.member == "PropertiesChanged" && third.signature == "sa{sv}as")
        let (interface, changed) = try third.read(as: String.self, [String: Variant].self)
        #expect(interface == "org.example.Test" && changed == ["Speed": Variant(.double(3.5))])
        #expect(try await atOther.next().member == "Last")
    }

    @Test("a subscription passes what its rule says, each part of it")
    @ServiceActor
    func matching() async throws {
        let bus = try await PrivateBus()
        let (sender, receiver) = (try bus.connect(), try bus.connect())
        let exact = Listener(
            receiver,
            MatchRule(
                sender: sender.uniqueName, path: "/a", interface: "org.example.Test", member: "M", argument0: "it's"))
        let everything = Listener(receiver, MatchRule())
        try await receiver.settle()

        try sender.emit("/a", "org.example.Test", "M", to: nil, "its")
        try sender.emit("/a", "org.example.Test", "M", to: nil, UInt32(1))
        try sender.emit("/a", "org.example.Test", "N", to: nil, "it's")
        try sender.emit("/b", "org.example.Test", "M", to: nil, "it's")
        try sender.emit("/a", "org.example.Other", "M", to: nil, "it's")
        try receiver.emit("/a", "org.example.Test", "M", to: nil, "it's")
        try sender.emit("/a", "org.example.Test", "M", to: nil, "it's", "last")

        let found = try await exact.next()
        #expect(try found.read(as: String.self, String.self) == ("it's", "last"))
        var count = 0
        while try await everything.next().signature != "ss" { count += 1 }
        // NameAcquired and the like come from the bus itself.
        #expect(count >= 6)
    }

    @Test("a subscription that has ended gets nothing more, and the bus is told")
    @ServiceActor
    func cancelling() async throws {
        let bus = try await PrivateBus()
        let (sender, receiver) = (try bus.connect(), try bus.connect())
        let rule = MatchRule(sender: sender.uniqueName)
        var ended: [MemberName] = []
        let subscription = receiver.subscribe(to: rule) { if let member = $0.member { ended.append(member) } }
        var dropped: Subscription? = receiver.subscribe(to: rule) { if let member = $0.member { ended.append(member) } }
        try await receiver.settle()

        subscription.cancel()
        dropped = nil
        try await receiver.settle()
        try sender.emit("/a", "org.example.Test", "M", to: nil)
        try await sender.settle()
        try await receiver.settle()

        #expect(ended.isEmpty)
        #expect(dropped == nil)
        #expect(try await receiver.ruleCount() == 0)
    }

    @Test("a handler may end the subscription that would come next")
    @ServiceActor
    func cancellingInside() async throws {
        let bus = try await PrivateBus()
        let (sender, receiver) = (try bus.connect(), try bus.connect())
        let rule = MatchRule(sender: sender.uniqueName)
        var calls: [String] = []
        var second: Subscription?
        let first = receiver.subscribe(to: rule) { _ in
            calls.append("first")
            second?.cancel()
        }
        second = receiver.subscribe(to: rule) { _ in calls.append("second") }
        let last = Listener(receiver, rule)
        try await receiver.settle()

        try sender.emit("/a", "org.example.Test", "M", to: nil)
        _ = try await last.next()

        #expect(calls == ["first"])
        first.cancel()
    }

    @Test("a rule's text quotes what it holds")
    func ruleText() {
        let rule = MatchRule(sender: ":1.2", path: "/a", interface: "a.b", member: "C", argument0: "it's, 'x'")

        #expect(
            rule.text
                == "type='signal',sender=':1.2',path='/a',interface='a.b',member='C',arg0='it'\\''s, '\\''x'\\'''")
    }
}
