/// Decodes `bytes` as an NMEA stream, in one piece and cut in two. Traps if a rule that holds for all input is broken.
package func fuzzNMEA(_ bytes: UnsafeRawBufferPointer) {
    var decoder = NMEADecoder()
    var solutions = decoder.decode(bytes)
    if let last = decoder.silenceFell() { solutions.append(last) }
    precondition(!decoder.isWaiting)
    for case .fix(let fix) in solutions {
        precondition(fix.horizontalAccuracy >= 3 && fix.horizontalAccuracy.isFinite)
        precondition(fix.speed.map { $0 >= 0 && $0.isFinite } ?? true)
        precondition(fix.heading.map { (0..<360).contains($0) } ?? true)
        precondition(fix.altitude?.isFinite ?? true)
        _ = ReceiverClock.timestamp(time: fix.time, day: fix.day, wallTime: 1_780_315_200_000_000)
    }

    var cut = NMEADecoder()
    let middle = bytes.count / 2
    _ = cut.decode(UnsafeRawBufferPointer(rebasing: bytes[..<middle]))
    _ = cut.decode(UnsafeRawBufferPointer(rebasing: bytes[middle...]))
}
