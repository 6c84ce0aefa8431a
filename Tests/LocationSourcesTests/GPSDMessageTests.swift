import Geolocation
import Testing

@testable import LocationSources

@Suite struct GPSDMessageTests {
    private func decode(_ text: String) -> GPSDMessage? { GPSDMessage(Array(text.utf8)[...]) }

    private func tpv(_ members: String) -> GPSDPosition? {
        guard case .position(let position) = decode(#"{"class":"TPV",\#(members)}"#) else { return nil }
        return position
    }

    @Test("a full TPV is read in the units of gpsd, whatever the order of its members")
    func full() throws {
        let position = try #require(
            tpv(
                #""device":"/dev/ttyUSB0","mode":3,"status":2,"time":"2026-06-01T12:00:00.250Z","lon":-20.25,"lat":10.5,"#
                    + #""altHAE":100.5,"altMSL":55.5,"alt":1,"speed":5.5,"track":90.5,"eph":4.75,"epx":9,"epy":9,"zzz":[{}]"#
            ))

        #expect(position.device == "/dev/ttyUSB0" && position.mode == 3 && position.status == 2)
        #expect(position.time == Timestamp(microseconds: 1_780_315_200_250_000))
        #expect(position.coordinate == Coordinate(latitude: 10.5, longitude: -20.25))
        #expect(position.altitude == 55.5 && position.speed == 5.5 && position.track == 90.5)
        #expect(position.horizontalError == 4.75)
    }

    @Test("TPV of older releases: alt, epx and epy, seconds since the epoch")
    func older() throws {
        let position = try #require(
            tpv(#""mode":3,"time":1780315200.5,"lat":10,"lon":20,"alt":7,"epx":3,"epy":4,"track":360"#))

        #expect(position.altitude == 7 && position.horizontalError == 5 && position.track == 0)
        #expect(position.time == Timestamp(microseconds: 1_780_315_200_500_000))
    }

    @Test("what is out of range or of another type is unknown")
    func outOfRange() throws {
        let position = try #require(
            tpv(
                #""mode":3,"time":"2026-06-31T12:00:00.000Z","lat":90.1,"lon":20,"altMSL":1e9,"speed":-1,"track":361,"#
                    + #""eph":-4,"device":7"#))

        #expect(
            [position.altitude, position.speed, position.track, position.horizontalError].allSatisfy { $0 == nil })
        #expect(position.time == nil && position.coordinate == nil && position.device == nil)
    }

    @Test(
        "only what was measured is a fix",
        arguments: [
            (#""mode":0"#, false), (#""mode":1"#, false), (#""mode":2"#, true), (#""mode":3"#, true),
            (#""x":1"#, false),
            (#""mode":"3""#, false), (#""mode":3,"status":2"#, true), (#""mode":3,"status":5"#, false),
            (#""mode":3,"status":6"#, true), (#""mode":3,"status":7"#, false), (#""mode":3,"status":8"#, false),
        ])
    func isFix(members: String, isFix: Bool) throws {
        #expect(try #require(tpv(members)).isFix == isFix)
    }

    @Test(
        "times are read only if they are whole",
        arguments: [
            "2026-06-01T12:00:00", "2026-06-01 12:00:00.000Z", "2026-06-01T25:00:00.000Z", "26-06-01T12:00:00.0000Z",
            "Z",
            "", "20260601T120000.000000Z",
        ])
    func badTimes(time: String) throws {
        #expect(try #require(tpv(#""mode":3,"time":"\#(time)""#)).time == nil)
    }

    @Test("devices are named in a list, when they come, and when they go")
    func devices() {
        #expect(
            decode(#"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"},{"path":7},{"path":"/dev/b"}]}"#)
                == .devices(["/dev/a", "/dev/b"]))
        #expect(decode(#"{"class":"DEVICES"}"#) == .devices([]))
        #expect(
            decode(#"{"class":"DEVICE","path":"/dev/a","activated":"2026-06-01T12:00:00.000Z"}"#)
                == .device(path: "/dev/a", isGone: false))
        #expect(
            decode(#"{"class":"DEVICE","path":"/dev/a","activated":1780315200.5}"#)
                == .device(path: "/dev/a", isGone: false))
        #expect(decode(#"{"class":"DEVICE","path":"/dev/a","activated":0}"#) == .device(path: "/dev/a", isGone: true))
        #expect(decode(#"{"class":"DEVICE","activated":0}"#) == nil)
        #expect(decode(#"{"class":"DEVICE","path":"\#(String(repeating: "x", count: 256))"}"#) == nil)
    }

    @Test("dilution and the receiver's own errors are read, and unknown ones are not")
    func skyAndErrors() {
        #expect(decode(#"{"class":"SKY","device":"/dev/a","hdop":1.5}"#)?.hdop == 1.5)
        for hdop in ["0", "99.99", "\"1\"", "-1"] { #expect(decode(#"{"class":"SKY","hdop":\#(hdop)}"#)?.hdop == nil) }
        guard case .errors(let errors) = decode(#"{"class":"GST","lat":10,"lon":10,"alt":3}"#) else {
            Issue.record("no GST")
            return
        }
        #expect(errors.horizontalError == 24.5)
    }

    @Test("greeting, answers, refusals and other classes are told apart")
    func others() {
        #expect(decode(#"{"class":"VERSION","release":"3.22","proto_major":16}"#) == .version(release: "3.22"))
        #expect(decode(#"{"class":"WATCH","enable":true}"#) == .watch)
        #expect(decode(#"{"class":"ERROR","message":"Unrecognized request"}"#) == .error("Unrecognized request"))
        for name in ["PPS", "ATT", "AIS", "NEW"] { #expect(decode(#"{"class":"\#(name)","mode":3}"#) == .other) }
    }

    @Test(
        "a line that is cut, deep, or no object is skipped",
        arguments: [
            "", "{", #"{"class":"TPV","mode":3,"lat":1"#, "[]", "3", "{}", #"{"class":7}"#, "$GPGGA,120000*00",
            #"{"class":"TPV","a":[[[[[[[[[]]]]]]]]]}"#, #"{"class":"TPV","lat":NaN}"#,
        ])
    func invalid(line: String) {
        #expect(decode(line) == nil)
    }
}

extension GPSDMessage {
    fileprivate var hdop: Double? {
        if case .sky(let sky) = self { sky.hdop } else { nil }
    }
}
