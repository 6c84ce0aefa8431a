import Geolocation
import NMEATestSupport
import Testing

@testable import NMEA

@Suite struct SentenceTests {
    @Test("GGA gives position, height, dilution and time")
    func gga() throws {
        let sentence = try #require(Sentence("GPGGA,123519.25,4807.038,N,01131.000,W,1,08,0.9,545.4,M,46.9,M,,"))

        #expect(sentence.kind == .gga)
        #expect(sentence.time == TimeOfDay(microseconds: (12 * 3600 + 35 * 60 + 19) * 1_000_000 + 250_000))
        #expect(sentence.validity == .fix)
        #expect(sentence.coordinate == Coordinate(latitude: 48 + 7.038 / 60, longitude: -(11 + 31.0 / 60)))
        #expect(sentence.hdop == 0.9)
        #expect(sentence.altitude == 545.4)
    }

    @Test(
        "only measured positions are fixes",
        arguments: zip(
            ["", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "x"],
            [false, false, true, true, true, true, true, false, false, false, true, false]))
    func quality(quality: String, isFix: Bool) throws {
        let sentence = try #require(Sentence("GPGGA,123519,4807.038,N,01131.000,E,\(quality),08,0.9,545.4,M,46.9,M,,"))

        #expect(sentence.validity == (isFix ? .fix : .noFix))
    }

    @Test("a dilution of 0, 50 or 99.99 is an unknown one", arguments: ["0.0", "50.0", "99.99", "", "-1", "nan"])
    func unknownDilution(hdop: String) throws {
        let sentence = try #require(Sentence("GPGGA,123519,4807.038,N,01131.000,E,1,08,\(hdop),545.4,M,46.9,M,,"))

        #expect(sentence.hdop == nil)
    }

    @Test(
        "RMC of every length is read, from before the variation to after the navigational status",
        arguments: ["", ",", ",,", ",003.1,W", ",003.1,W,A", ",003.1,W,A,V", ",,,A,S"])
    func rmc(tail: String) throws {
        let sentence = try #require(Sentence("GNRMC,081836,A,3751.65,S,14507.36,E,010.0,360.0,130998\(tail)"))

        #expect(sentence.validity == .fix)
        #expect(sentence.coordinate == Coordinate(latitude: -(37 + 51.65 / 60), longitude: 145 + 7.36 / 60))
        #expect(sentence.speed == 18520.0 / 3600)
        #expect(sentence.course == 0)
        #expect(sentence.date == ReceiverDate(year: .ofCentury(98), month: 9, day: 13))
    }

    @Test(
        "RMC without status A, or of a mode that measures nothing, is no fix",
        arguments: ["V,A", "A,N", "A,E", "A,S", "A,M", ",A"])
    func rmcInvalid(statusAndMode: String) throws {
        let parts = statusAndMode.split(separator: ",", omittingEmptySubsequences: false)
        let text = "GPRMC,081836,\(parts[0]),3751.65,S,14507.36,E,0.0,0.0,130998,,,\(parts[1])"

        #expect(try #require(Sentence(text)).validity == .noFix)
    }

    @Test("standing still is a speed of 0 without a course; empty fields are neither")
    func standingStill() throws {
        let still = try #require(Sentence("GPRMC,081836,A,3751.65,S,14507.36,E,0.0,0.0,130998,,,A"))
        let empty = try #require(Sentence("GPRMC,081836,A,3751.65,S,14507.36,E,,,130998,,,A"))

        #expect(still.speed == 0 && still.course == nil)
        #expect(empty.speed == nil && empty.course == nil)
    }

    @Test(
        "a position out of range or without its letters is none",
        arguments: [
            "9000.001,N,00000.0,E", "4807.038,N,18000.001,E", "4860.0,N,01131.0,E", "4807.038,,01131.0,E",
            "4807.038,N,01131.0,", "4807.038,E,01131.0,N", "-4807.038,N,01131.0,E", "nan,N,01131.0,E", ",N,,E",
            "4807.0e1,N,01131.0,E", "4807..1,N,01131.0,E", ".,N,.,E", "99999999999999999999.0,N,01131.0,E",
        ])
    func badPosition(position: String) throws {
        let sentence = try #require(Sentence("GPGGA,123519,\(position),1,08,0.9,545.4,M,46.9,M,,"))

        #expect(sentence.coordinate == nil)
    }

    @Test(
        "positions of the four corners and with small letters are read",
        arguments: [
            ("9000.0,n,18000.0,w", 90.0, -180.0), ("9000.0,S,18000.0,E", -90.0, 180.0),
            ("0000.0,N,00000.0,E", 0.0, 0.0),
            ("5.5,N,7.5,W", 5.5 / 60, -7.5 / 60), ("0030.00000000,S,00030.000,E", -0.5, 0.5),
        ])
    func goodPosition(position: String, latitude: Double, longitude: Double) throws {
        let sentence = try #require(Sentence("GPGGA,123519,\(position),1,08,0.9,545.4,M,46.9,M,,"))

        #expect(sentence.coordinate == Coordinate(latitude: latitude, longitude: longitude))
    }

    @Test(
        "a time that no clock shows is none", arguments: ["240000", "126000", "120061", "12000", "12:00:00", "120000x"])
    func badTime(time: String) throws {
        let sentence = try #require(Sentence("GPGGA,\(time),4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"))

        #expect(sentence.time == nil)
    }

    @Test("any talker will do, but proprietary sentences are something else")
    func talkers() {
        for talker in ["GP", "GN", "GL", "GA", "GB", "BD", "EC", "IN", "II", "GQ", "PQ"] {
            #expect(Sentence("\(talker)GLL,4916.45,N,12311.12,W,225444,A,A")?.kind == .gll)
        }
        #expect(Sentence("PMGLL,4916.45,N,12311.12,W,225444,A,A") == nil)
        #expect(Sentence("GPGSV,1,1,00,,,,,") == nil)
        #expect(Sentence("GGA,225444,4916.45,N,12311.12,W,1,04,1.0,1.0,M,,M,,") == nil)
        #expect(Sentence("GPVHW,,T,,M,5.0,N,9.3,K") == nil)
    }

    @Test(
        "GNS is a fix if any constellation has one",
        arguments: zip(["NN", "AN", "NNA", "D", "", "E", "NS"], [false, true, true, true, false, false, false]))
    func gns(mode: String, isFix: Bool) throws {
        let sentence = try #require(Sentence("GNGNS,014035.00,4332.69,N,17235.48,E,\(mode),13,0.9,25.63,11.24,,"))

        #expect(sentence.validity == (isFix ? .fix : .noFix))
        #expect(sentence.altitude == 25.63 && sentence.hdop == 0.9)
    }

    @Test("GSA tells the dimension and the dilution, with and without the system's number", arguments: ["", ",1"])
    func gsa(system: String) throws {
        let sentence = try #require(Sentence("GNGSA,A,2,04,05,,09,12,,,24,,,,,2.5,1.3,2.1\(system)"))

        #expect(sentence.hasHeight == false && sentence.hdop == 1.3 && sentence.validity == nil)
        #expect(try #require(Sentence("GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99")).validity == .noFix)
    }

    @Test("GST and PGRME give 95 % radii")
    func errors() throws {
        let gst = try #require(Sentence("GPGST,024603.00,3.2,6.6,4.7,47.3,3.0,4.0,22.0"))
        let pgrme = try #require(Sentence("PGRME,15.0,M,22.5,M,15.0,M"))

        #expect(gst.horizontalError == 2.45 * 12.5.squareRoot())
        #expect(pgrme.horizontalError == 15 * 2.08)
        #expect(try #require(Sentence("GPGST,024603.00,,,,,,,")).horizontalError == nil)
        #expect(try #require(Sentence("PGRME,,M,,M,,M")).horizontalError == nil)
    }

    @Test(
        "VTG is read in its lettered and its bare form",
        arguments: [
            "GPVTG,054.7,T,034.4,M,005.5,N,010.2,K", "GPVTG,054.7,T,034.4,M,005.5,N,010.2,K,A",
            "GPVTG,054.7,034.4,005.5,010.2",
            "GPVTG,054.7,T,,M,,N,010.186,K,D",
        ])
    func vtg(text: String) throws {
        let sentence = try #require(Sentence(text))

        #expect(abs(try #require(sentence.speed) - 2.8294) < 0.001)
        #expect(sentence.course == 54.7)
    }

    @Test("ZDA gives the full year")
    func zda() throws {
        #expect(
            try #require(Sentence("GPZDA,201530.00,04,07,2026,00,00")).date
                == ReceiverDate(year: .full(2026), month: 7, day: 4))
    }

    @Test(
        "a cut sentence says nothing",
        arguments: ["GPGGA", "GPGGA,", "GPGGA,123519,4807.038,N", "GPRMC,1,A,2,N,3,E", "", ",", "GPGSA,A,3"])
    func cut(text: String) {
        #expect(Sentence(text) == nil)
    }
}
