import Geolocation
import LocationTestSupport
import NMEATestSupport
import Testing

@testable import NMEA

@Suite struct EpochAssemblerTests {
    @Test("what GGA and RMC say of the same time is one fix")
    func merged() throws {
        let fixes = NMEADecoder.fixes(gga("120000") + rmc("120000"))

        let fix = try #require(fixes.first)
        #expect(fixes.count == 1)
        #expect(fix.altitude == 55.5 && fix.heading == 90 && fix.horizontalAccuracy == 19)
        #expect(abs(try #require(fix.speed) - 5.1444) < 0.0001)
    }

    @Test("an epoch is held until it is clear that it is over")
    func unlearned() {
        var decoder = NMEADecoder()

        #expect(decoder.decode(gga("120000")).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.decode(rmc("120000")).isEmpty)
        #expect(decoder.decode(gga("120001")).count == 1)
        #expect(decoder.silenceFell()?.fix != nil)
        #expect(!decoder.isWaiting)
    }

    @Test("once two epochs have ended with the same type, it sends a fix out at once")
    func learned() {
        var decoder = NMEADecoder()
        for second in 0..<2 { _ = decoder.decode(gga("12000\(second)") + rmc("12000\(second)")) }
        _ = decoder.silenceFell()

        #expect(decoder.decode(gga("120002")).isEmpty)
        #expect(decoder.decode(rmc("120002")).count == 1)
        #expect(decoder.silenceFell() == nil)
    }

    @Test("a receiver of GGA alone gives a fix with each sentence from the third on")
    func ggaAlone() {
        var decoder = NMEADecoder()

        let counts = (0..<6).map { decoder.decode(gga("12000\($0)")).count }

        #expect(counts == [0, 1, 2, 1, 1, 1])
    }

    @Test("a type that comes again opens a new epoch even at the same time")
    func sameTime() {
        #expect(NMEADecoder.fixes(gga("120000") + gga("120000", minutes: "00.1000")).count == 2)
    }

    @Test("what came in one piece stays together, though the receiver was learned to send less")
    func onePiece() throws {
        var decoder = NMEADecoder()
        for second in 0..<3 { _ = decoder.decode(gga("12000\(second)")) }

        let solutions = decoder.decode(gga("120003") + rmc("120003"))

        #expect(solutions.count == 1)
        #expect(try #require(solutions.first?.fix).heading == 90)
    }

    @Test("a new order of sentences is learned from two epochs")
    func relearned() throws {
        var decoder = NMEADecoder()
        for second in 0..<3 { _ = decoder.decode(gga("12000\(second)")) }
        for second in 3..<6 { _ = decoder.decode(gga("12000\(second)")) + decoder.decode(rmc("12000\(second)")) }

        #expect(decoder.decode(gga("120006")).isEmpty)
        #expect(try #require(decoder.decode(rmc("120006")).first?.fix).heading == 90)
    }

    @Test("several GSA are one epoch's")
    func severalGSA() {
        let gsa = nmea("GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1")

        #expect(NMEADecoder.fixes(gga("120000") + gsa + gsa + rmc("120000")).count == 1)
    }

    @Test(
        "one sentence that denies a fix makes none of an epoch",
        arguments: [
            Sample(gga("120000", quality: "0") + rmc("120000")), Sample(gga("120000") + rmc("120000", status: "V")),
            Sample(rmc("120000") + nmea("GPGSA,A,1,,,,,,,,,,,,,,,")),
            Sample(nmea("GPGLL,1030.0,N,02000.0,E,120000,V,N")),
            Sample(gga("120000", quality: "8")), Sample(nmea("GNGNS,120000,1030.0,N,02000.0,E,NN,00,,,,,")),
        ] as [Sample])
    func noFix(text: Sample) {
        #expect(NMEADecoder.solutions(text.text) == [.noFix])
    }

    @Test("GGA and RMC together outvote a sentence that denies a fix")
    func outvoted() {
        let text = gga("120000") + nmea("GPGSA,A,1,,,,,,,,,,,,,,,") + rmc("120000")

        #expect(NMEADecoder.fixes(text).count == 1)
    }

    @Test("sentences without a position or a denial say nothing")
    func nothing() {
        #expect(NMEADecoder.solutions(nmea("GPVTG,054.7,T,034.4,M,005.5,N,010.2,K")).isEmpty)
        #expect(NMEADecoder.solutions(nmea("GPZDA,201530.00,04,07,2026,00,00")).isEmpty)
    }

    @Test("the receiver's own estimate of its error goes before the dilution, and GST before PGRME")
    func accuracyOrder() {
        let gst = nmea("GPGST,120000,3.2,6.6,4.7,47.3,10.0,10.0,22.0")
        let pgrme = nmea("PGRME,15.0,M,22.5,M,15.0,M")
        let gsa = nmea("GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,2.0,2.1")

        #expect(NMEADecoder.fixes(gga("120000") + pgrme + gst).map(\.horizontalAccuracy) == [24.5])
        #expect(NMEADecoder.fixes(gga("120000") + pgrme).map(\.horizontalAccuracy) == [15 * 2.08])
        #expect(NMEADecoder.fixes(rmc("120000") + gsa).map(\.horizontalAccuracy) == [38])
        #expect(NMEADecoder.fixes(gsa + gga("120000") + gsa).map(\.horizontalAccuracy) == [19])
        #expect(NMEADecoder.fixes(rmc("120000")).map(\.horizontalAccuracy) == [50])
    }

    @Test(
        "corrections make the error smaller, but never less than 3 m",
        arguments: zip(["1", "2", "4", "5"], [76.0, 19, 4 * 19 * (1.0 / 20), 9.5]))
    func corrections(quality: String, accuracy: Double) {
        #expect(NMEADecoder.fixes(gga("120000", quality: quality, hdop: "4.0")).map(\.horizontalAccuracy) == [accuracy])
        #expect(NMEADecoder.fixes(gga("120000", quality: quality, hdop: "0.1")).map(\.horizontalAccuracy) == [3])
    }

    @Test("a flat fix has no height")
    func twoDimensional() {
        let flat = nmea("GPGSA,A,2,04,05,,09,,,,,,,,,2.5,1.3,2.1")

        #expect(NMEADecoder.fixes(gga("120000") + flat).map(\.altitude) == [nil])
    }

    @Test("GLL counts only where nothing better is there")
    func weakest() {
        let gll = nmea("GPGLL,1130.0,N,02100.0,E,120000,A,A")

        #expect(NMEADecoder.fixes(gll + rmc("120000")).map(\.coordinate.latitude) == [10.5])
        #expect(NMEADecoder.fixes(gll).map(\.coordinate.latitude) == [11.5])
    }

    @Test("speed without a time at the beginning of a stream is not taken for the next fix's")
    func tailOfABurst() {
        let vtg = nmea("GPVTG,054.7,T,034.4,M,005.5,N,010.2,K")

        #expect(NMEADecoder.fixes(vtg + gga("120000")).map(\.speed) == [nil])
        #expect(NMEADecoder.fixes(gga("120000") + vtg).map(\.heading) == [54.7])
    }

    @Test("the date of RMC holds for the epochs after it, over midnight too")
    func datesCarry() {
        let day = CalendarDay(year: 2026, month: 6, day: 1)
        let next = CalendarDay(year: 2026, month: 6, day: 2)

        let fixes = NMEADecoder.fixes(gga("235957") + rmc("235958") + gga("235959") + gga("000000"))

        #expect(fixes.map(\.day) == [nil, day, day, next])
    }

    @Test("a date that no calendar has does not undo the one before")
    func badDateAfterGood() {
        let day = CalendarDay(year: 2026, month: 6, day: 1)

        #expect(NMEADecoder.fixes(rmc("120000") + rmc("120001", date: "320126")).map(\.day) == [day, day])
    }

    @Test("parts of a second are kept")
    func subSecond() {
        #expect(NMEADecoder.fixes(gga("000000.125")).map(\.time?.microseconds) == [125_000])
    }

    @Test(
        "two-digit years and rolled-over weeks are the day meant",
        arguments: [
            ("010626", 2026, 6, 1), ("311225", 2025, 12, 31), ("060419", 2019, 4, 6),
            // 1024 weeks before 2026-06-01 and 2018-11-21.
            ("161006", 2026, 6, 1), ("070499", 2018, 11, 21),
        ])
    func years(date: String, year: Int, month: Int, day: Int) {
        #expect(
            NMEADecoder.fixes(rmc("120000", date: date)).map(\.day) == [CalendarDay(year: year, month: month, day: day)]
        )
    }

    @Test("the year of ZDA goes before that of RMC")
    func zdaYear() {
        let fixes = NMEADecoder.fixes(rmc("120000", date: "010680") + nmea("GPZDA,120000,01,06,2080,00,00"))

        #expect(fixes.map(\.day) == [CalendarDay(year: 2080, month: 6, day: 1)])
    }

    @Test("a date that no calendar has is none", arguments: ["310226", "001326", "1", "", "06049-", "010100 "])
    func badDates(date: String) {
        let fixes = NMEADecoder.fixes(rmc("120000", date: date))

        #expect(fixes.count == 1)
        #expect(fixes.allSatisfy { (date == "010100 ") == ($0.day != nil) })
    }
}
