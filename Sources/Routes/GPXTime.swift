import Geolocation
import NMEA

extension Timestamp {
    /// Reads `2026-06-01T12:00:00Z`, with or without decimals, as GPX has it (xsd:dateTime), and with an offset from UTC.
    init?(gpx text: ArraySlice<UInt8>) {
        let text = Array(text)
        let marks = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)]
        guard text.count >= 19, marks.allSatisfy({ text[$0] == UInt8(ascii: $1) }),
            let year = Int(digits: text[0..<4]), let month = Int(digits: text[5..<7]),
            let dayOfMonth = Int(digits: text[8..<10]),
            let day = CalendarDay(year: year, month: month, day: dayOfMonth)
        else { return nil }
        let end = text[19...].firstIndex { !($0 == UInt8(ascii: ".") || (0x30...0x39).contains($0)) } ?? text.count
        guard let time = TimeOfDay((text[11..<13] + text[14..<16] + text[17..<end])[...]),
            let offset = Self.offset(text[end...])
        else { return nil }
        self.init(microseconds: Int64(day.sinceEpoch) * 86_400_000_000 + time.microseconds - offset)
    }

    /// Microseconds that a zone is ahead of UTC: `Z`, `+02:00`, or nothing, which GPX takes for UTC.
    private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
        guard let sign = zone.first else { return 0 }
        if sign == UInt8(ascii: "Z") { return zone.count == 1 ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), zone.count == 6,
            zone[zone.startIndex + 3] == UInt8(ascii: ":"), let hours = Int(digits: zone.dropFirst().prefix(2)),
            let minutes = Int(digits: zone.suffix(2)), hours <= 14, minutes < 60
        else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60_000_000
        return sign == UInt8(ascii: "-") ? -offset : offset
    }
}
