import DBus
import EventLoop
import LocationTestSupport
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct ModemLocationTests {
    init() { EventLoop.startThread() }

    @Test("what others have on stays as it is, with the signals as they are, and only what was added is taken back")
    @ServiceActor
    func flags() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem(capabilities: 23, enabled: 17, signals: true)

        modem.use(.gnssNMEA, for: "a")
        await until { modem.isOn(for: "a") }
        modem.use([], for: "a")
        await until { fake.enabled == 17 }

        #expect(fake.setups == [.init(sources: 21, signals: true), .init(sources: 17, signals: true)])
        #expect(fake.misuse == 0)
    }

    @Test("what is on already is used without a word, and left on")
    @ServiceActor
    func foundOn() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem(enabled: 1)

        modem.use(.cell3GPP, for: "a")
        #expect(modem.isOn(for: "a"))
        modem.use([], for: "a")
        try await bench.settle()

        #expect(fake.setups.isEmpty)
    }

    @Test("two users that start together are one call, and the one that stays keeps what it wants")
    @ServiceActor
    func twoUsers() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()

        modem.use(.gnssNMEA, for: "a")
        modem.use(.cell3GPP, for: "b")
        await until { modem.isOn(for: "a") && modem.isOn(for: "b") }
        modem.use([], for: "a")
        await until { fake.enabled == 1 }
        modem.use([], for: "b")
        await until { fake.enabled == 0 }

        #expect(fake.setups.map(\.sources) == [5, 1, 0])
        #expect(fake.setups.allSatisfy { !$0.signals })
    }

    @Test("what cannot be had keeps nobody else from what can")
    @ServiceActor
    func incompatible() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem(capabilities: 1)

        modem.use(.gnssNMEA, for: "a")
        modem.use(.cell3GPP, for: "b")
        await until { modem.isOn(for: "b") && !modem.serves("a") }
        try await bench.settle()

        #expect(fake.setups.map(\.sources) == [5, 4, 1])
    }

    @Test("what another program has come to want meanwhile stays on")
    @ServiceActor
    func another() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        modem.use(.gnssNMEA, for: "a")
        await until { modem.isOn(for: "a") }

        fake.become(enabled: 6)
        try await bench.settle()
        modem.use([], for: "a")
        await until { fake.enabled == 2 }

        #expect(fake.setups.map(\.sources) == [4, 2])
    }

    @Test("what another program switches off is switched on again, at most every five seconds")
    @ServiceActor
    func switchedOff() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        modem.use(.gnssNMEA, for: "a")
        await until { modem.isOn(for: "a") }

        for _ in 0..<100 { fake.become(enabled: 0) }
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        #expect(fake.setups.count == 1)
        await bench.clock.advance(by: .seconds(5))
        await until { modem.isOn(for: "a") }

        #expect(fake.setups.map(\.sources) == [4, 4])
    }

    @Test("a refusal is heard once a minute, and stands in nobody else's way")
    @ServiceActor
    func refused() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem(enabled: 1)
        fake.setupBehaviour.refusal = FakeModem.unauthorized

        modem.use(.gnssNMEA, for: "a")
        modem.use(.cell3GPP, for: "b")
        await until { !modem.serves("a") }
        for _ in 0..<10 {
            modem.use([], for: "a")
            modem.use(.gnssNMEA, for: "a")
        }
        fake.become(state: 8)
        try await bench.settle()
        #expect(fake.setups.count == 1 && modem.serves("b"))
        await bench.clock.advance(by: .seconds(59))
        try await bench.settle()
        #expect(fake.setups.count == 1)
        fake.setupBehaviour.refusal = nil
        await bench.clock.advance(by: .seconds(1))
        await until { modem.isOn(for: "a") }

        #expect(modem.serves("a"))
        #expect(fake.setups.count == 2)
    }

    @Test("a modem that is not enabled is tried all the same, and again as soon as somebody has enabled it")
    @ServiceActor
    func notEnabled() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        fake.setupBehaviour.refusal = FakeModem.wrongState
        modem.use(.gnssNMEA, for: "a")
        await until { !modem.serves("a") }

        fake.setupBehaviour.refusal = nil
        fake.become(state: 8)
        await until { bench.clock.hasTimer(in: .seconds(5)) }
        await bench.clock.advance(by: .seconds(5))
        await until { modem.isOn(for: "a") }

        #expect(fake.misuse == 0)
    }

    @Test("a call that gets no answer may have come into effect, and is taken back in any case")
    @ServiceActor
    func hangs() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        fake.setupBehaviour.hang()
        modem.use(.gnssNMEA, for: "a")
        await until { fake.setups.count == 1 }
        await bench.clock.advance(by: .seconds(25))
        await until { !modem.serves("a") }

        fake.setupBehaviour.release()
        await until { modem.isOn(for: "a") && modem.serves("a") }
        modem.use([], for: "a")
        await until { fake.enabled == 0 }

        #expect(fake.setups.map(\.sources) == [4, 0])
    }

    @Test("whoever stops before the answer has come has nothing on in the end")
    @ServiceActor
    func stopsEarly() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        fake.setupBehaviour.hang()
        modem.use(.gnssNMEA, for: "a")
        await until { fake.setups.count == 1 }

        modem.use([], for: "a")
        fake.setupBehaviour.release()
        await until { fake.setups.count == 2 && fake.enabled == 0 }

        #expect(fake.setups.map(\.sources) == [4, 0])
    }

    @Test("a modem that goes while it is being switched on is not tried again")
    @ServiceActor
    func goes() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        fake.setupBehaviour.hang()
        modem.use(.gnssNMEA, for: "a")
        await until { fake.setups.count == 1 }

        bench.manager.unplug(fake)
        await until { bench.directory.modems.isEmpty }
        fake.setupBehaviour.refusal = .failed("gone")
        fake.setupBehaviour.release()
        try await bench.settle()

        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("switching off that fails is tried again each minute until it is off")
    @ServiceActor
    func switchingOffFails() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem()
        modem.use(.gnssNMEA, for: "a")
        await until { modem.isOn(for: "a") }
        fake.setupBehaviour.refusal = .failed("busy")

        modem.use([], for: "a")
        await until { bench.clock.hasTimer(in: .seconds(60)) }
        fake.setupBehaviour.refusal = nil
        await bench.clock.advance(by: .seconds(60))
        await until { fake.enabled == 0 }
        try await bench.settle()

        #expect(fake.setups.map(\.sources) == [4, 0, 0])
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("a modem that does not answer is asked again after five seconds, one that refuses after a minute")
    @ServiceActor
    func reading() async throws {
        let bench = try await ModemBench()
        let (fake, modem) = await bench.modem(enabled: 1)
        fake.tell(cell: "262,02,FFFE,1A2B3C,3E8")
        fake.readBehaviour.hang()
        async let nothing = modem.read()
        await until { fake.reads == 1 }
        await bench.clock.advance(by: .seconds(10))

        #expect(await nothing == nil)
        #expect(!modem.serves("a") && modem.readableFrom == bench.clock.now + .seconds(5))
        fake.readBehaviour.release()
        await bench.clock.advance(by: .seconds(5))
        #expect(await modem.read() == [.cell3GPP: .string("262,02,FFFE,1A2B3C,3E8")])
        #expect(modem.serves("a"))
        fake.readBehaviour.refusal = FakeModem.unauthorized
        #expect(await modem.read() == nil)
        let reads = fake.reads
        await bench.clock.advance(by: .seconds(59))
        #expect(await modem.read() == nil)
        #expect(fake.reads == reads)
    }
}
