import Geolocation

/// Reads the files of the system's zone database (tzfile(5), and the head of each file).
enum ZoneTable {
    /// Larger files are not read, in bytes. The largest there is has a tenth of it.
    static let sizeLimit = 1 << 20

    /// The place of a zone's principal city, in `zone1970.tab` or `zone.tab`: country, place, zone, and perhaps a
    /// comment, with tabs between them.
    static func place(of zone: String, in table: [UInt8]) -> Coordinate? {
        for line in lines(table) where line.first != UInt8(ascii: "#") {
            let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count >= 3, fields[2].elementsEqual(zone.utf8) { return coordinate(fields[1]) }
        }
        return nil
    }

    /// The zone that another name stands for, in `tzdata.zi`: lines of `L`, the zone, the name.
    static func zone(behind name: String, in data: [UInt8]) -> String? {
        for line in lines(data) where line.starts(with: "L ".utf8) {
            let fields = line.split(separator: UInt8(ascii: " "))
            if fields.count == 3, fields[2].elementsEqual(name.utf8) {
                return String(decoding: fields[1], as: UTF8.self)
            }
        }
        return nil
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] { bytes.split(separator: UInt8(ascii: "\n")) }

    /// A place in the form of ISO 6709 without a point: `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
    static func coordinate(_ text: ArraySlice<UInt8>) -> Coordinate? {
        guard text.count == 11 || text.count == 15 else { return nil }
        let latitudeLength = text.count == 11 ? 5 : 7
        guard let latitude = angle(text.prefix(latitudeLength), degreeDigits: 2),
            let longitude = angle(text.dropFirst(latitudeLength), degreeDigits: 3)
        else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func angle(_ text: ArraySlice<UInt8>, degreeDigits: Int) -> Double? {
        let sign: Double
        switch text.first {
        case UInt8(ascii: "+"): sign = 1
        case UInt8(ascii: "-"): sign = -1
        default: return nil
        }
        let digits = text.dropFirst()
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        func number(_ digits: ArraySlice<UInt8>) -> Double {
            digits.reduce(0) { $0 * 10 + Double($1 - UInt8(ascii: "0")) }
        }
        let minutes = number(digits.dropFirst(degreeDigits).prefix(2))
        let seconds = number(digits.dropFirst(degreeDigits + 2))
        guard minutes < 60, seconds < 60 else { return nil }
        return sign * (number(digits.prefix(degreeDigits)) + minutes / 60 + seconds / 3600)
    }
}
