import DBus
import Geolocation
import NMEA
import NMEATestSupport
import Testing

@testable import LocationSources

@Suite struct ModemSentencesTests {
    private var sentences = ModemSentences()

    private mutating func fix(_ text: String, at seconds: Int = 0) -> NMEAFix? {
        sentences.solution(in: text, at: .seconds(seconds))?.fix
    }

    @Test("a moment is told once, however often and in whatever words it comes")
    mutating func once() {
        let first = fix(gga("120000") + rmc("120000"))
        let same = fix(gga("120000") + rmc("120000"))
        let otherOrder = fix(rmc("120000") + gga("120000"))
        let more = fix(rmc("120000") + gga("120000") + nmea("GPVTG,90.0,T,,M,10.0,N,18.5,K,A"))
        let next = fix(gga("120001") + rmc("120001"))

        #expect(first?.speed != nil && first?.altitude == 55.5)
        #expect(same == nil && otherOrder == nil && more == nil)
        #expect(next?.time == TimeOfDay(microseconds: 43_201_000_000))
    }

    @Test("of several moments the newest counts, with the sentences that bear no time")
    mutating func newest() {
        let gsa = nmea("GPGSA,A,3,01,02,03,04,,,,,,,,,2.0,1.5,1.0")
        let gns = nmea("GNGNS,120000,1030.0000,N,02000.0000,E,AA,08,,,,,")

        let solution = fix(gsa + rmc("115959", minutes: "30.0000") + gns)

        #expect(solution?.time == TimeOfDay(microseconds: 43_200_000_000))
        #expect(solution?.horizontalAccuracy == 1.5 * 19)
        #expect(solution?.coordinate == Coordinate(latitude: 10.5, longitude: 20))
    }

    @Test("speed, height and precision may be two seconds older than the position, not more")
    mutating func companions() {
        let height = fix(rmc("120002") + gga("120000", minutes: "30.0000", hdop: "2.0"))
        let speed = fix(gga("120004", hdop: "2.0") + rmc("120002", minutes: "30.0000"))
        let neither = fix(rmc("120008") + gga("120005"))

        #expect(height?.altitude == 55.5 && height?.horizontalAccuracy == 38)
        #expect(height?.coordinate == Coordinate(latitude: 10.5, longitude: 20))
        #expect(speed?.coordinate == Coordinate(latitude: 10.5, longitude: 20) && speed?.speed != nil)
        #expect(neither?.altitude == nil && neither?.horizontalAccuracy == 50)
    }

    @Test("every talker is heard, and one of two that has a fix is enough")
    mutating func talkers() {
        let gps = nmea("GPGGA,120000,,,,,0,00,,,M,,M,,")
        let galileo = nmea("GAGGA,120000,1030.0,N,02000.0,E,1,08,1.0,5,M,0,M,,")

        let solution = fix(gps + galileo)

        #expect(solution != nil)
    }

    @Test("a wrong checksum is no sentence, and the last one needs no end of line")
    mutating func checksum() {
        let good = String(gga("120000").dropLast())

        let broken = fix(gga("120000").replacing("*", with: "1*"))
        let whole = fix(good)

        #expect(broken == nil)
        #expect(whole != nil)
    }

    @Test("midnight is no step back, an earlier time is one, and is believed after ten seconds without another")
    mutating func order() {
        let evening = fix(gga("235959"), at: 0)
        let night = fix(gga("000000"), at: 1)
        let back = fix(gga("235958"), at: 2)
        let later = fix(gga("235957"), at: 11)
        let stillThere = fix(gga("235957") + rmc("235957"), at: 30)

        #expect(evening != nil && night != nil && later != nil)
        #expect(back == nil && stillThere == nil)
    }

    @Test("a receiver without a fix says so, with and without a time")
    mutating func noFix() {
        let timed = sentences.solution(in: rmc("120000", status: "V"), at: .zero)
        let timeless = sentences.solution(in: nmea("GPGGA,,,,,,0,00,,,M,,M,,"), at: .zero)

        #expect(timed == .noFix && timeless == .noFix)
    }

    @Test("a text longer than any receiver's is left alone")
    mutating func flood() {
        let text = String(repeating: gga("120000"), count: 400)

        #expect(fix(text) == nil)
    }
}

@Suite struct ModemPositionTests {
    private func position(_ entries: (String, Value)...) -> ModemPosition? {
        ModemPosition(
            .dictionary(
                key: String.signature, value: Variant.signature,
                entries.map { Value.Entry(key: .string($0), value: .variant($1)) }))
    }

    @Test("numbers of a receiver become a place, with a height and a time where they are told")
    func whole() {
        let position = position(
            ("utc-time", .string("203015.00")), ("latitude", .double(38.5)), ("longitude", .double(-77)),
            ("altitude", .double(33.5)))

        #expect(position?.coordinate == Coordinate(latitude: 38.5, longitude: -77))
        #expect(position?.altitude == 33.5)
        #expect(position?.time == TimeOfDay(microseconds: 73_815_000_000))
    }

    @Test("no place, one that cannot be, one at 0, 0 and another type are none")
    func none() {
        #expect(position() == nil)
        #expect(position(("latitude", .double(1))) == nil)
        #expect(position(("latitude", .double(91)), ("longitude", .double(0))) == nil)
        #expect(position(("latitude", .double(.nan)), ("longitude", .double(1))) == nil)
        #expect(position(("latitude", .double(0)), ("longitude", .double(0))) == nil)
        #expect(position(("latitude", .string("1")), ("longitude", .double(1))) == nil)
        #expect(ModemPosition(.string("here")) == nil)
        #expect(
            position(("latitude", .double(1)), ("longitude", .double(1)), ("altitude", .double(1e9)))?.altitude == nil)
    }
}
