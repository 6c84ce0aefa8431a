import EventLoop
import Geolocation
import JSON
import LocationTestSupport
import LookupProtocol
import Testing

@testable import LocationSources

@Suite(.timeLimit(.minutes(1))) struct SubmitterTests {
    init() { EventLoop.startThread() }

    @ServiceActor
    private final class Bench {
        let clock = ManualClock()
        let network = ScriptedNetwork()
        let transport = ScriptedTransport()
        let submitter: Submitter

        init(nickname: String = "geoclue") throws {
            transport.answer = { _ in .status(200, "{}") }
            submitter = Submitter(
                service: try #require(LookupProvider("https://first.example/v2/geosubmit")), nickname: nickname,
                transport: transport, network: network, userAgent: "Whereabouts/1 (test)", clock: clock)
        }

        func fix(
            _ latitude: Double = 52.5, _ longitude: Double = 13.4, accuracy: Double? = 5, speed: Double? = 1,
            age: Duration = .zero, kind: Fix.Kind = .gnss, isSimulated: Bool = false, isForeign: Bool = false
        ) -> Fix {
            Fix(
                coordinate: Coordinate(latitude: latitude, longitude: longitude)!, horizontalAccuracy: accuracy,
                altitude: 34, speed: speed, heading: 90,
                timestamp: Timestamp(microseconds: clock.wallTime - age.wholeMicroseconds),
                measuredAt: clock.now - age, kind: kind, source: "gpsd", isSimulated: isSimulated,
                isForeign: isForeign)
        }

        func scan(age: Duration = .zero) -> [AccessPoint] {
            LookupQuery.scan(0x0011_22AA_0001, 0x0011_22AA_0002, at: clock.now + .seconds(1) - age).accessPoints
        }

        /// A fix and a scan each minute, `count` times.
        func drive(_ count: Int) async {
            for _ in 0..<count {
                submitter.note(fix())
                submitter.note(scan())
                await clock.advance(by: .seconds(60))
            }
        }

        /// Whether something would be told of this fix and this scan.
        func collects(_ fix: Fix, _ points: [AccessPoint]? = nil) async -> Bool {
            submitter.note(fix)
            submitter.note(points ?? scan())
            await clock.advance(by: Submitter.longestWait)
            submitter.note(self.fix(kind: .wifi))
            submitter.note([])
            await clock.settle()
            return !transport.requests.isEmpty
        }
    }

    @Test("what was received is told with where, when and how well, and under the nickname")
    @ServiceActor
    func body() async throws {
        let bench = try Bench()

        bench.submitter.note(bench.fix(age: .seconds(3)))
        bench.submitter.note(bench.scan(age: .seconds(1)))
        await bench.clock.advance(by: Submitter.longestWait)
        bench.submitter.note([])
        await until { bench.transport.requests.count == 1 }

        let request = try #require(bench.transport.requests.first)
        #expect(request.url == "https://first.example/v2/geosubmit" && request.nickname == "geoclue")
        let start = bench.clock.wallTime / 1000 - 900_000 - 1000
        #expect(
            request.json == [
                "items": [
                    [
                        "timestamp": .integer(start),
                        "position": [
                            "latitude": 52.5, "longitude": 13.4, "accuracy": 5.0, "altitude": 34.0, "speed": 1.0,
                            "heading": 90.0, "age": 2000, "source": "gps",
                        ],
                        "wifiAccessPoints": [
                            [
                                "macAddress": "00:11:22:aa:00:01", "signalStrength": -60, "frequency": 2412,
                                "age": 0,
                            ],
                            [
                                "macAddress": "00:11:22:aa:00:02", "signalStrength": -60, "frequency": 2412,
                                "age": 0,
                            ],
                        ],
                    ]
                ]
            ])
    }

    @Test("only good fixes of a receiver of one's own are told")
    @ServiceActor
    func fitness() async throws {
        func isTold(_ fix: (Bench) -> Fix) async throws -> Bool {
            let bench = try Bench()
            return await bench.collects(fix(bench))
        }

        #expect(try await isTold { $0.fix() })
        #expect(try await isTold { $0.fix(accuracy: 200, speed: nil) })
        #expect(try await isTold { $0.fix(0.5, 1) })
        #expect(try await !isTold { $0.fix(0.9, -0.9) })
        #expect(try await !isTold { $0.fix(accuracy: 201) })
        #expect(try await !isTold { $0.fix(accuracy: nil) })
        #expect(try await !isTold { $0.fix(accuracy: 0) })
        #expect(try await !isTold { $0.fix(speed: 51) })
        #expect(try await !isTold { $0.fix(kind: .wifi) })
        #expect(try await !isTold { $0.fix(isSimulated: true) })
        #expect(try await !isTold { $0.fix(isForeign: true) })
    }

    @Test("only what was received when and where the fix was taken is told")
    @ServiceActor
    func difference() async throws {
        func isTold(age: Int, speed: Double) async throws -> Bool {
            let bench = try Bench()
            return await bench.collects(bench.fix(speed: speed, age: .seconds(age)))
        }

        #expect(try await isTold(age: 20, speed: 0))
        #expect(try await !isTold(age: 21, speed: 0))
        #expect(try await isTold(age: 5, speed: 30))
        #expect(try await !isTold(age: 6, speed: 30))
    }

    @Test("one access point alone is not told")
    @ServiceActor
    func lonely() async throws {
        let bench = try Bench()

        #expect(await !bench.collects(bench.fix(), Array(bench.scan().prefix(1))))
    }

    @Test("a scan is told once, also where a fix from then comes late")
    @ServiceActor
    func once() async throws {
        let bench = try Bench()
        bench.submitter.note(bench.scan())
        bench.submitter.note(bench.fix())
        await bench.clock.advance(by: .seconds(60))

        bench.submitter.note(bench.fix(age: .seconds(50)))
        await bench.clock.advance(by: Submitter.longestWait)
        bench.submitter.note([])
        await until { bench.transport.requests.count == 1 }

        #expect(bench.transport.requests.first?.json?["items"]?.array?.count == 1)
    }

    @Test("ten items go at once, and no more than one a minute is taken")
    @ServiceActor
    func batches() async throws {
        let bench = try Bench()
        bench.submitter.note(bench.scan())
        for _ in 0..<30 {
            bench.submitter.note(bench.fix())
            await bench.clock.advance(by: .seconds(1))
        }
        await bench.clock.advance(by: .seconds(30))

        await bench.drive(8)
        #expect(bench.transport.requests.isEmpty)
        await bench.drive(1)

        await until { bench.transport.requests.count == 1 }
        #expect(bench.transport.requests.first?.json?["items"]?.array?.count == 10)
        #expect(bench.clock.pendingTimers == 0)
    }

    @Test("where a lot is received, no more items go at a time than a request holds, and the others with the next")
    @ServiceActor
    func largeBatch() async throws {
        let bench = try Bench()
        let addresses = (1...25).map { 0x0011_22AA_0000 + UInt64($0) }

        for _ in 0..<20 {
            bench.submitter.note(bench.fix())
            bench.submitter.note(
                addresses.flatMap { LookupQuery.scan($0, at: bench.clock.now + .seconds(1)).accessPoints })
            await bench.clock.advance(by: .seconds(60))
        }
        await bench.clock.advance(by: Submitter.longestWait)
        bench.submitter.note([])
        await bench.clock.settle()

        let told = bench.transport.requests.compactMap { $0.json?["items"]?.array?.count }
        #expect(told.reduce(0, +) == 20 && told.count <= 4 && told.allSatisfy { $0 < Submitter.batch })
        let items = bench.transport.requests.flatMap { $0.json?["items"]?.array ?? [] }
        let times = items.map { $0["timestamp"]?.integer ?? 0 }
        #expect(times == times.sorted())
    }

    @Test("while nobody is located nothing is sent, however long it has waited")
    @ServiceActor
    func silence() async throws {
        let bench = try Bench()
        await bench.drive(5)

        await bench.clock.advance(by: .seconds(86_400))

        #expect(bench.transport.requests.isEmpty && bench.clock.pendingTimers == 0)
    }

    @Test("offline it waits, and no nickname is no header")
    @ServiceActor
    func offline() async throws {
        let bench = try Bench(nickname: "")
        bench.network.state.isOnline = false
        await bench.drive(20)
        #expect(bench.transport.requests.isEmpty)

        bench.network.state.isOnline = true
        bench.submitter.note([])
        await until { bench.transport.requests.count == 1 }

        #expect(try #require(bench.transport.requests.first).nickname == nil)
    }

    @Test("a nickname that no header can carry is left out, and the items go")
    @ServiceActor
    func oddNickname() async throws {
        let bench = try Bench(nickname: "Jörg")

        await bench.drive(10)
        await until { bench.transport.requests.count == 1 }

        #expect(try #require(bench.transport.requests.first).nickname == nil)
    }

    @Test("items stay while the service fails, up to a number, and it is left alone for a while")
    @ServiceActor
    func failure() async throws {
        let bench = try Bench()
        bench.transport.answer = { _ in .status(503) }
        await bench.drive(10)
        await until { bench.transport.requests.count == 1 && bench.transport.open == 0 }
        await bench.clock.settle()

        await bench.drive(4)
        #expect(bench.transport.requests.count == 1)
        await bench.drive(60)
        #expect(bench.transport.requests.count == 4)
        bench.transport.answer = { _ in .status(200) }
        await bench.clock.advance(by: .seconds(7200))
        for _ in 0..<10 {
            bench.submitter.note([])
            await bench.clock.settle()
        }

        let told = bench.transport.requests.dropFirst(4).compactMap { $0.json?["items"]?.array?.count }
        #expect(told.reduce(0, +) == Submitter.mostItems)
    }

    @Test("a transport that fails is not the service's fault: the items go as soon as it may be tried again")
    @ServiceActor
    func transportFails() async throws {
        let bench = try Bench()
        bench.transport.fail(for: .seconds(3), at: bench.clock)
        await bench.drive(10)
        await bench.clock.settle()
        #expect(bench.transport.requests.count == 1)

        bench.transport.rest = bench.clock.now + .seconds(3)
        bench.submitter.note([])
        await bench.clock.settle()
        #expect(bench.transport.requests.count == 1)
        bench.transport.answer = { _ in .status(200, "{}") }
        await bench.clock.advance(by: .seconds(3))
        bench.transport.rest = nil
        bench.submitter.note([])
        await until { bench.transport.requests.count == 2 }

        #expect(bench.transport.requests[0].body == bench.transport.requests[1].body)
    }

    @Test("items that the service does not like are not sent again")
    @ServiceActor
    func badRequest() async throws {
        let bench = try Bench()
        bench.transport.answer = { _ in .status(400) }
        await bench.drive(10)
        await until { bench.transport.requests.count == 1 && bench.transport.open == 0 }

        await bench.drive(9)
        #expect(bench.transport.requests.count == 1)
        await bench.drive(1)

        await until { bench.transport.requests.count == 2 }
        try #require(bench.transport.requests.count == 2)
        #expect(bench.transport.requests[0].json != bench.transport.requests[1].json)
    }

    @Test("what is forgotten is not sent, and what is under way ends")
    @ServiceActor
    func forget() async throws {
        let bench = try Bench()
        bench.transport.answer = { [transport = bench.transport] _ in await transport.hold() }
        await bench.drive(15)
        await until { bench.transport.open == 1 }

        bench.submitter.forget()
        await until { bench.transport.open == 0 }
        await bench.clock.advance(by: .seconds(7200))
        bench.submitter.note(bench.scan())
        await bench.clock.settle()

        #expect(bench.transport.requests.count == 1 && bench.transport.cancelled == 1)
    }
}
