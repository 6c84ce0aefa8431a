import Geolocation
import Positioning
import Testing

@Suite("Choice among sources")
struct ArbiterTests {
    @Test("each course of events ends at the right source", arguments: courses)
    func course(_ course: ArbitrationCase) throws {
        try course.run()
    }

    private static let courses: [ArbitrationCase] = [
        ArbitrationCase(
            "the first fix of any source is taken",
            [.accepted(.sample(.ip, .outskirts, accuracy: 25_000))]),
        ArbitrationCase(
            "a more accurate source replaces the current one at once",
            [
                .accepted(.sample(.ip, .outskirts, accuracy: 25_000)),
                .accepted(.sample(.wifi, at: 5, accuracy: 40)),
                .accepted(.sample(.gnss, at: 9, .nextDoor, accuracy: 8)),
            ]),
        ArbitrationCase(
            "a less accurate source is ignored while the better one is fresh",
            [
                .accepted(.sample(.gnss, accuracy: 8)),
                .refused(.sample(.wifi, at: 2, .nextDoor, accuracy: 40), .ignore(.receiverHeld), .gnss),
                .refused(.sample(.ip, at: 4, .outskirts, accuracy: 25_000), .ignore(.receiverHeld), .gnss),
            ]),
        ArbitrationCase(
            "a satellite fix is held for ten seconds even at car speed",
            [
                .accepted(.sample(.gnss, accuracy: 8, speed: 30)),
                .refused(.sample(.wifi, at: 9.9, .corner, accuracy: 30), .ignore(.receiverHeld), .gnss),
                .tick(10, .gnss),
                .tick(10.5, .wifi),
            ]),
        ArbitrationCase(
            "after the hold, another source has to be clearly better",
            [
                .accepted(.sample(.gnss, accuracy: 8)),
                .refused(.sample(.wifi, at: 11, .nextDoor, accuracy: 40), .ignore(.notBetter), .gnss),
                .tick(14, .gnss),
                .accepted(.sample(.wifi, at: 30, .nextDoor, accuracy: 40)),
            ]),
        ArbitrationCase(
            "a poor satellite fix is not held",
            [
                .accepted(.sample(.gnss, accuracy: 101)),
                .accepted(.sample(.wifi, at: 1, accuracy: 40)),
            ]),
        ArbitrationCase(
            "a receiver that comes back with poor accuracy does not flap",
            [
                .accepted(.sample(.wifi, accuracy: 30)),
                .refused(.sample(.gnss, at: 1, .nextDoor, accuracy: 28), .ignore(.notBetter), .wifi),
                .accepted(.sample(.gnss, at: 2, .nextDoor, accuracy: 18)),
            ]),
        ArbitrationCase(
            "in a tunnel the last satellite fix gives way to the cell once the car may be anywhere",
            [
                .accepted(.sample(.gnss, accuracy: 10, speed: 25)),
                .refused(.sample(.cell, at: 20, .corner, accuracy: 1500), .ignore(.notBetter), .gnss),
                .tick(60, .gnss),
                .tick(120, .cell),
            ]),
        ArbitrationCase(
            "an unplugged receiver gives way at once",
            [
                .accepted(.sample(.wifi, accuracy: 30)),
                .accepted(.sample(.gnss, at: 1, accuracy: 8)),
                .lost("gnss", at: 2, .wifi),
            ]),
        ArbitrationCase(
            "a fix of an older measurement than the last of its source is dropped",
            [
                .accepted(.sample(.wifi, at: 100, accuracy: 30)),
                .refused(.sample(.cell, at: 40, accuracy: 1000), .ignore(.notBetter), .wifi, now: 100),
                .refused(
                    .sample(.wifi, at: 90, .nextDoor, accuracy: 20), .ignore(.older), .wifi, now: 101),
            ]),
        ArbitrationCase(
            "a stale fix is refused",
            [
                .refused(.sample(.wifi, accuracy: 30), .ignore(.stale), nil, now: 1801),
                .accepted(.sample(.ip, at: 1802, .outskirts, accuracy: 25_000)),
            ]),
        ArbitrationCase(
            "a receiver's jump that another source contradicts waits for a second fix",
            [
                .accepted(.sample(.wifi, accuracy: 30)),
                .accepted(.sample(.gnss, at: 1, accuracy: 8)),
                .refused(.sample(.gnss, at: 2, .farAway, accuracy: 8), .hold(.jump), .gnss),
                .accepted(.sample(.gnss, at: 3, .farAway, accuracy: 8)),
            ]),
        ArbitrationCase(
            "a receiver's single outlier is dropped",
            [
                .accepted(.sample(.wifi, accuracy: 30)),
                .accepted(.sample(.gnss, at: 1, accuracy: 8)),
                .refused(.sample(.gnss, at: 2, .farAway, accuracy: 8), .hold(.jump), .gnss),
                .accepted(.sample(.gnss, at: 3, .nextDoor, accuracy: 8)),
                .refused(.sample(.gnss, at: 4, .farAway, accuracy: 8), .hold(.jump), .gnss),
            ]),
        ArbitrationCase(
            "a receiver's jump that nothing contradicts is taken",
            [
                .accepted(.sample(.gnss, accuracy: 8)),
                .accepted(.sample(.gnss, at: 1, .farAway, accuracy: 8)),
            ]),
        ArbitrationCase(
            "an address or a time zone is no witness against a receiver",
            [
                .accepted(.sample(.timezone, accuracy: 20_000)),
                .refused(.sample(.ip, accuracy: 25_000), .ignore(.notBetter), .timezone),
                .accepted(.sample(.gnss, at: 1, accuracy: 8)),
                .accepted(.sample(.gnss, at: 2, .farAway, accuracy: 8)),
            ]),
        ArbitrationCase(
            "a lookup's jump waits for a second one",
            [
                .accepted(.sample(.wifi, accuracy: 60)),
                .refused(.sample(.wifi, at: 10, .farAway, accuracy: 10), .hold(.jump), .wifi),
                .accepted(.sample(.wifi, at: 70, .farAway, accuracy: 10)),
            ]),
        ArbitrationCase(
            "a lookup's single outlier is dropped",
            [
                .accepted(.sample(.wifi, accuracy: 60)),
                .refused(.sample(.wifi, at: 10, .farAway, accuracy: 10), .hold(.jump), .wifi),
                .accepted(.sample(.wifi, at: 20, accuracy: 60)),
            ]),
        ArbitrationCase(
            "an access point that has moved away cannot beat a fresh satellite fix",
            [
                .accepted(.sample(.gnss, accuracy: 15)),
                .refused(.sample(.wifi, at: 3, .farAway, accuracy: 5), .ignore(.receiverHeld), .gnss),
            ]),
        ArbitrationCase(
            "after two hours of sleep the old place does not hold the new one",
            [
                .accepted(.sample(.gnss, accuracy: 8)),
                .accepted(.sample(.wifi, at: 7200, .farAway, accuracy: 40)),
            ]),
        ArbitrationCase(
            "after two hours of sleep a lookup's new place is no jump",
            [
                .accepted(.sample(.wifi, accuracy: 8)),
                .accepted(.sample(.wifi, at: 7200, .farAway, accuracy: 40)),
            ]),
        ArbitrationCase(
            "a receiver without accuracy gets 50 m",
            [
                .accepted(.sample(.wifi, accuracy: 40)),
                .refused(.sample(.gnss, at: 1, accuracy: nil), .ignore(.notBetter), .wifi),
                .lost("wifi", at: 2, .gnss),
            ]),
        ArbitrationCase(
            "a lookup without accuracy is refused",
            [.refused(.sample(.wifi, accuracy: nil), .ignore(.noAccuracy), nil)]),
        ArbitrationCase(
            "an accuracy that is none is refused",
            [
                .refused(.sample(.gnss, accuracy: -1), .ignore(.invalidAccuracy), nil),
                .refused(.sample(.gnss, accuracy: .nan), .ignore(.invalidAccuracy), nil),
                .refused(.sample(.gnss, accuracy: .infinity), .ignore(.invalidAccuracy), nil),
            ]),
        ArbitrationCase(
            "a set place never ages and beats Wi-Fi, but not a better satellite fix",
            [
                .accepted(.sample(.fixed, accuracy: 15)),
                .refused(.sample(.wifi, at: 600, .nextDoor, accuracy: 30), .ignore(.notBetter), .fixed),
                .accepted(.sample(.gnss, at: 601, accuracy: 5)),
                .tick(620, .fixed),
                .tick(1_000_000, .fixed),
            ]),
        ArbitrationCase(
            "a set place is not held off by a fresh satellite fix, even beside a better lookup",
            [
                .accepted(.sample(.gnss, accuracy: 40)),
                .refused(.sample(.wifi, at: 1, accuracy: 10), .ignore(.receiverHeld), .gnss),
                .accepted(.sample(.fixed, at: 2, accuracy: 15)),
            ]),
        ArbitrationCase(
            "when all have expired the last one stays",
            [.accepted(.sample(.gnss, accuracy: 8)), .tick(4000, .gnss)]),
        ArbitrationCase(
            "a fix of the current source always passes, even a less accurate one",
            [
                .accepted(.sample(.wifi, accuracy: 20)),
                .accepted(.sample(.wifi, at: 10, .corner, accuracy: 120)),
            ]),
        ArbitrationCase(
            "the address takes over only when the Wi-Fi fix expires",
            [
                .accepted(.sample(.wifi, accuracy: 30)),
                .refused(.sample(.ip, at: 1799, .outskirts, accuracy: 25_000), .ignore(.notBetter), .wifi),
                .tick(1800, .wifi),
                .tick(1801, .ip),
            ]),
        ArbitrationCase(
            "a clearly better receiver takes over from a fresh one at once",
            [
                .accepted(.sample(.gnss, accuracy: 95, source: "gpsd:/dev/ttyUSB0")),
                .accepted(.sample(.gnss, at: 0, .nextDoor, accuracy: 15, source: "gpsd:/dev/ttyUSB1")),
            ]),
        ArbitrationCase(
            "two receivers that are alike do not take turns, however fast they move",
            [
                .accepted(.sample(.gnss, accuracy: 5, speed: 30, source: "gpsd:/dev/ttyUSB0")),
                .refused(
                    .sample(.gnss, at: 0.5, .nextDoor, accuracy: 5, speed: 30, source: "gpsd:/dev/ttyUSB1"),
                    .ignore(.receiverHeld), .gnss),
                .accepted(.sample(.gnss, at: 1, accuracy: 5, speed: 30, source: "gpsd:/dev/ttyUSB0")),
            ]),
        ArbitrationCase(
            "a stranger never stands against a fresh receiver of one's own, not even a poor one",
            [
                .accepted(.sample(.gnss, accuracy: 190)),
                .refused(
                    .sample(.gnss, at: 0.5, .farAway, accuracy: 3, source: "network-nmea:x", isForeign: true),
                    .ignore(.notBetter), .gnss),
                .accepted(.sample(.gnss, at: 1, accuracy: 190)),
                .tick(11.5, .gnss),
            ]),
        ArbitrationCase(
            "a stranger's position gives way to a receiver's first fix, which it cannot cast doubt on",
            [
                .accepted(.sample(.gnss, .farAway, accuracy: 3, source: "network-nmea:x", isForeign: true)),
                .accepted(.sample(.gnss, at: 1, accuracy: 190)),
                .refused(
                    .sample(.gnss, at: 2, .farAway, accuracy: 3, source: "network-nmea:x", isForeign: true),
                    .ignore(.notBetter), .gnss),
                .accepted(.sample(.gnss, at: 3, .corner.north(100_000), accuracy: 190)),
            ]),
        ArbitrationCase(
            "one of two receivers that is lost gives way to the other",
            [
                .accepted(.sample(.gnss, accuracy: 5, source: "gpsd:/dev/ttyUSB0")),
                .refused(
                    .sample(.gnss, at: 1, .nextDoor, accuracy: 4, source: "gpsd:/dev/ttyUSB1"),
                    .ignore(.receiverHeld), .gnss),
                .lost("gpsd:/dev/ttyUSB0", at: 2, .gnss),
            ]),
        ArbitrationCase(
            "a measurement of the future does not block the next one",
            [
                .accepted(.sample(.gnss, at: 1000, accuracy: 5), now: 0),
                .accepted(.sample(.gnss, at: 1, .nextDoor, accuracy: 5), now: 1),
            ]),
    ]

    // MARK: What is kept of a fix

    @Test(
        "a radius is raised to what its kind can do",
        arguments: [
            (Fix.Kind.gnss, 0.0, 3.0), (.wifi, 1, 10), (.cell, 1, 500), (.ip, 1, 10_000), (.timezone, 1, 10_000),
            (.fixed, 0, 0), (.gnss, 7, 7),
        ])
    func floors(kind: Fix.Kind, stated: Double, kept: Double) {
        var arbiter = Arbiter()

        _ = arbiter.consider(.sample(kind, accuracy: stated), at: .zero, wallTime: .start)

        #expect(arbiter.current?.horizontalAccuracy == kept)
    }

    @Test("a speed, heading or altitude that cannot be is unknown")
    func impossibleValues() {
        var arbiter = Arbiter()
        var fix = Fix.sample(.gnss, speed: -1, heading: 400)
        fix.altitude = .nan

        _ = arbiter.consider(fix, at: .zero, wallTime: .start)

        #expect(arbiter.current?.speed == nil)
        #expect(arbiter.current?.heading == nil)
        #expect(arbiter.current?.altitude == nil)
    }

    @Test("devices under ever new names do not pile up as rivals")
    func manyDevices() {
        var arbiter = Arbiter()

        for number in 0..<1000 {
            let fix = Fix.sample(.gnss, at: Double(number) * 400, source: "gpsd:/dev/ttyUSB\(number)")
            #expect(arbiter.consider(fix, at: fix.measuredAt, wallTime: fix.timestamp) == .accept)
        }

        #expect(arbiter.nextChange(after: .seconds(999 * 400)) == nil)
    }
}
