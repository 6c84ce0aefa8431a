import NMEA

/// A sentence with its checksum and line end.
package func nmea(_ body: String) -> String {
    let sum = body.utf8.reduce(UInt8(0), ^)
    let digits = String(sum, radix: 16, uppercase: true)
    return "$\(body)*\(digits.count == 1 ? "0" : "")\(digits)\r\n"
}

/// GGA at 10° 30′ N, `minutes` east of 20°, as a healthy receiver sends it.
package func gga(_ time: String, minutes: String = "00.0000", quality: String = "1", hdop: String = "1.0") -> String {
    nmea("GPGGA,\(time),1030.0000,N,020\(minutes),E,\(quality),08,\(hdop),55.5,M,0.0,M,,")
}

package func rmc(
    _ time: String, minutes: String = "00.0000", status: String = "A", date: String = "010626"
) -> String {
    nmea("GPRMC,\(time),\(status),1030.0000,N,020\(minutes),E,10.0,90.0,\(date),,,A")
}

extension NMEADecoder {
    package mutating func decode(_ text: String) -> [NMEASolution] {
        var text = text
        return text.withUTF8 { decode(UnsafeRawBufferPointer($0)) }
    }

    /// Decodes what belongs together, and lets silence fall after it.
    package static func solutions(_ text: String) -> [NMEASolution] {
        var decoder = NMEADecoder()
        let solutions = decoder.decode(text)
        return solutions + [decoder.silenceFell()].compactMap { $0 }
    }

    package static func fixes(_ text: String) -> [NMEAFix] { solutions(text).compactMap(\.fix) }
}

extension NMEASolution {
    package var fix: NMEAFix? {
        if case .fix(let fix) = self { fix } else { nil }
    }
}

extension Sentence {
    package init?(_ text: String) { self.init(Array(text.utf8)[...]) }
}
