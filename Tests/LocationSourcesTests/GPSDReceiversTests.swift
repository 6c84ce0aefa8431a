import Geolocation
import Testing

@testable import LocationSources

@Suite struct GPSDReceiversTests {
    private var receivers = GPSDReceivers(name: "gpsd")
    private let wall: Int64 = 1_780_315_200_000_000

    private mutating func take(_ text: String, at milliseconds: Int = 0) throws -> [GPSDReceivers.Event] {
        let message = try #require(GPSDMessage(Array(text.utf8)[...]))
        return receivers.take(message, at: .milliseconds(milliseconds), wallTime: wall)
    }

    private mutating func fixes(_ text: String, at milliseconds: Int = 0) throws -> [Fix] {
        try take(text, at: milliseconds).compactMap(\.fix)
    }

    private func tpv(_ second: Int?, device: String = "/dev/a", more: String = "", mode: Int = 3) -> String {
        let time = second.map { #","time":"2026-06-01T12:00:0\#($0).000Z""# } ?? ""
        return #"{"class":"TPV","device":"\#(device)","mode":\#(mode)\#(time),"lat":10.5,"lon":20,"altMSL":7\#(more)}"#
    }

    @Test("a fix carries the device, its time and the time of arrival")
    mutating func fix() throws {
        let fix = try #require(try fixes(tpv(1), at: 5000).first)

        #expect(fix.source == "gpsd:/dev/a" && fix.kind == .gnss && !fix.isSimulated)
        #expect(fix.timestamp == Timestamp(microseconds: wall + 1_000_000))
        #expect(fix.measuredAt == .seconds(5))
        #expect(fix.altitude == 7)
    }

    @Test("a moment is told once for each device")
    mutating func once() throws {
        #expect(try fixes(tpv(1)).count == 1)
        #expect(try fixes(tpv(1)).isEmpty)
        #expect(try fixes(tpv(1, device: "/dev/b")).count == 1)
        #expect(try fixes(tpv(1)).isEmpty)
        #expect(try fixes(tpv(2)).count == 1)
    }

    @Test("height is told in mode 3 only")
    mutating func flat() throws {
        #expect(try fixes(tpv(1, mode: 2)).map(\.altitude) == [nil])
    }

    @Test("modes 0 and 1 give nothing, whatever position they carry", arguments: [0, 1])
    mutating func noFix(mode: Int) throws {
        #expect(try take(tpv(1, mode: mode)).isEmpty)
        #expect(receivers.deadline == nil)
    }

    @Test("a fix without a time waits 200 ms, and is dropped if one with a time follows")
    mutating func timeless() throws {
        #expect(try take(tpv(nil), at: 10000).isEmpty)
        #expect(try take(tpv(nil), at: 10100).isEmpty)
        #expect(receivers.expire(at: .milliseconds(10190)).isEmpty)
        #expect(receivers.deadline == .milliseconds(10200))

        let told = receivers.expire(at: .milliseconds(10200)).compactMap(\.fix)
        #expect(told.map(\.measuredAt) == [.seconds(10)])
        #expect(told.map(\.timestamp) == [Timestamp(microseconds: wall)])

        #expect(try take(tpv(nil), at: 11000).isEmpty)
        #expect(try fixes(tpv(1), at: 11100).count == 1)
        #expect(receivers.expire(at: .milliseconds(11300)).isEmpty)
    }

    @Test("the error is eph, else epx and epy, else GST, else the last HDOP, else 50 m, and never below 3 m")
    mutating func accuracy() throws {
        #expect(try fixes(tpv(0)).map(\.horizontalAccuracy) == [50])
        _ = try take(#"{"class":"SKY","device":"/dev/a","hdop":2}"#)
        _ = try take(#"{"class":"SKY","device":"/dev/a","satellites":[]}"#)
        _ = try take(#"{"class":"SKY","device":"/dev/b","hdop":9}"#)
        #expect(try fixes(tpv(1)).map(\.horizontalAccuracy) == [38])
        _ = try take(#"{"class":"GST","device":"/dev/a","lat":10,"lon":10}"#)
        #expect(try fixes(tpv(2)).map(\.horizontalAccuracy) == [24.5])
        #expect(try fixes(tpv(3, more: #","epx":6,"epy":8"#)).map(\.horizontalAccuracy) == [10])
        #expect(try fixes(tpv(4, more: #","epx":6,"epy":8,"eph":12.5"#)).map(\.horizontalAccuracy) == [12.5])
        #expect(try fixes(tpv(5, more: #","eph":0.02"#)).map(\.horizontalAccuracy) == [3])
    }

    @Test("a device without a fix for 30 s is lost, once")
    mutating func lost() throws {
        _ = try take(tpv(1), at: 0)
        _ = try take(tpv(2), at: 5000)
        _ = try take(tpv(3, mode: 1), at: 6000)

        #expect(receivers.expire(at: .milliseconds(34900)).isEmpty)
        #expect(receivers.expire(at: .seconds(35)) == [.lost(source: "gpsd:/dev/a")])
        #expect(receivers.expire(at: .seconds(100)).isEmpty)
        #expect(try take(tpv(4), at: 101000).contains(.live(source: "gpsd:/dev/a")))
    }

    @Test("a device that is removed is lost at once, if it ever had a fix")
    mutating func removed() throws {
        _ = try take(#"{"class":"DEVICES","devices":[{"path":"/dev/a"},{"path":"/dev/b"}]}"#)
        _ = try take(tpv(1))
        #expect(receivers.devices == ["/dev/a", "/dev/b"])

        #expect(try take(#"{"class":"DEVICE","path":"/dev/b","activated":0}"#).isEmpty)
        #expect(try take(#"{"class":"DEVICE","path":"/dev/a","activated":0}"#) == [.lost(source: "gpsd:/dev/a")])
        #expect(receivers.devices.isEmpty && receivers.deadline == nil)
    }

    @Test("a device that a later list does not name is lost too")
    mutating func unlisted() throws {
        _ = try take(tpv(1))

        #expect(try take(#"{"class":"DEVICES","devices":[]}"#) == [.lost(source: "gpsd:/dev/a")])
    }

    @Test("a thousand made-up devices do not fill the memory")
    mutating func manyDevices() throws {
        for number in 0..<1000 { _ = try take(tpv(1, device: "/dev/\(number)")) }

        #expect(receivers.devices.count == 16)
        #expect(try fixes(tpv(2, device: "/dev/3")).count == 1)
        #expect(try fixes(tpv(2, device: "/dev/300")).isEmpty)
    }

    @Test("a clock that goes back or far ahead still gives fixes")
    mutating func oddTimes() throws {
        for year in ["2006", "2037", "2026", "1999"] {
            let text = tpv(1).replacing("2026", with: year)
            #expect(try fixes(text).count == 1)
        }
    }
}

extension GPSDReceivers.Event {
    fileprivate var fix: Fix? {
        if case .fix(let fix) = self { fix } else { nil }
    }
}
