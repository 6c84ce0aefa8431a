import Geolocation
import Testing

@testable import LocationSources

@Suite struct ProviderHealthTests {
    private static let noon = Timestamp(seconds: 1_780_315_200)

    /// What a provider that always fails, and is asked as soon as it may be, has to rest, in seconds.
    private func waits(
        _ kind: ProviderTrouble.Kind, retryAfter: UInt32? = nil, count: Int, at wallTime: Timestamp = noon
    ) throws -> [Int] {
        var health = ProviderHealth()
        var now = Duration.seconds(1000)
        return try (0..<count).map { _ in
            _ = health.failed(ProviderTrouble(kind, "", retryAfter: retryAfter), at: now, wallTime: wallTime)
            let rest = try #require(health.rest(at: now)) - now
            now += rest
            return Int(rest / .seconds(1))
        }
    }

    @Test(
        "one that does not work is asked each half minute, and less often after ten minutes",
        arguments: [ProviderTrouble.Kind.noAnswer, .serverError, .badRequest, .wrongContent])
    func shortWaits(kind: ProviderTrouble.Kind) throws {
        let waits = try waits(kind, count: 26)

        #expect(Array(waits.prefix(21)) == [5] + [Int](repeating: 30, count: 20))
        #expect(Array(waits.dropFirst(21)) == [60, 120, 240, 300, 300])
    }

    @Test("no provider that fails is asked more than three times in a minute (C02)")
    func rate() throws {
        let moments = try waits(.noAnswer, count: 30).reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }

        for moment in moments {
            #expect(moments.count { $0 >= moment && $0 <= moment + 60 } <= 3)
        }
    }

    @Test("one that is busy or refuses is left alone for five minutes, then for up to two hours")
    func longWaits() throws {
        #expect(try waits(.busy, count: 7) == [300, 600, 1200, 2400, 4800, 7200, 7200])
        #expect(try waits(.refusal, count: 2) == [300, 600])
    }

    @Test("what a busy one asks for is heeded, from half a minute to a day")
    func retryAfter() throws {
        #expect(try waits(.busy, retryAfter: 77, count: 2) == [77, 77])
        #expect(try waits(.busy, retryAfter: 0, count: 1) == [30])
        #expect(try waits(.busy, retryAfter: .max, count: 1) == [86_400])
    }

    @Test("one whose daily limit is reached is asked again on the next day of UTC")
    func dailyLimit() throws {
        #expect(try waits(.dailyLimit, count: 1) == [43_200])
        #expect(try waits(.dailyLimit, count: 1, at: Timestamp(seconds: 86_399)) == [300])
        #expect(try waits(.dailyLimit, count: 1, at: Timestamp(seconds: -1)) == [300])
    }

    @Test("a change of state is something new, the same again is not")
    func news() {
        var health = ProviderHealth()
        func fail(_ kind: ProviderTrouble.Kind, _ reason: String = "") -> Bool {
            health.failed(ProviderTrouble(kind, reason), at: .seconds(1), wallTime: Self.noon)
        }

        let news = [
            fail(.noAnswer, "refused"), fail(.noAnswer, "timed out"), fail(.serverError), health.worked(),
            health.worked(), fail(.serverError),
        ]

        #expect(news == [true, false, true, true, false, true])
    }

    @Test("what works may be asked at once, and starts anew when it fails")
    func recovery() throws {
        var health = ProviderHealth()
        let trouble = ProviderTrouble(.noAnswer, "")
        for _ in 0..<5 { _ = health.failed(trouble, at: .seconds(1000), wallTime: Self.noon) }

        _ = health.worked()
        #expect(health.rest(at: .seconds(1000)) == nil)
        _ = health.failed(trouble, at: .seconds(1000), wallTime: Self.noon)

        #expect(health.rest(at: .seconds(1000)) == .seconds(1005))
    }

    @Test("another network forgives what kept a provider from being reached, and nothing else")
    func forgiveness() {
        for kind in [ProviderTrouble.Kind.noAnswer, .serverError, .busy, .dailyLimit, .refusal, .wrongContent] {
            var health = ProviderHealth()
            _ = health.failed(ProviderTrouble(kind, ""), at: .seconds(1000), wallTime: Self.noon)

            let isForgiven = health.forgiveNetwork(at: .seconds(1001))
            #expect(isForgiven == (kind == .noAnswer))
            #expect((health.rest(at: .seconds(1001)) == nil) == (kind == .noAnswer))
            // Whoever is forgiven has yet to show that it works.
            #expect(health.trouble != nil)
        }
    }
}

@Suite struct RememberedTests {
    @Test("what is remembered ends with its time")
    func age() {
        var memory = Remembered<String, Int>(for: .seconds(10), upTo: 2)

        memory.insert(1, for: "a", at: .seconds(100))

        #expect(memory.value(for: "a", at: .seconds(110)) == 1)
        #expect(memory.value(for: "a", at: .seconds(111)) == nil)
        #expect(memory.value(for: "b", at: .seconds(100)) == nil)
    }

    @Test("the oldest makes room")
    func count() {
        var memory = Remembered<String, Int>(for: .seconds(10), upTo: 2)

        for (index, key) in ["a", "b", "a", "c"].enumerated() {
            memory.insert(index, for: key, at: .seconds(100 + index))
        }

        #expect(memory.count == 2)
        #expect(memory.value(for: "a", at: .seconds(104)) == 2 && memory.value(for: "c", at: .seconds(104)) == 3)
    }
}
