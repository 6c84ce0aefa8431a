import Geolocation

// What the fuzzers call. Each takes any bytes, goes the whole way from them to fixes, and traps if a rule that holds
// for all input is broken.

/// Decodes `bytes` as an NMEA stream, in one piece and cut in two.
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

/// Reads `bytes` as lines of gpsd's protocol, 50 ms apart.
package func fuzzGPSD(_ bytes: UnsafeRawBufferPointer) {
    var lines = LineReader(limit: GPSDMessage.longestLine)
    var receivers = GPSDReceivers(name: "gpsd")
    var now = Duration.zero
    lines.read(bytes) { line in
        now += .milliseconds(50)
        guard let message = GPSDMessage(line) else { return }
        for event in receivers.take(message, at: now, wallTime: 1_780_315_200_000_000) + receivers.expire(at: now) {
            guard case .fix(let fix) = event else { continue }
            precondition((fix.horizontalAccuracy ?? 0) >= 3 && fix.horizontalAccuracy?.isFinite == true)
            precondition(fix.speed.map { $0 >= 0 && $0.isFinite } ?? true)
            precondition(fix.heading.map { (0..<360).contains($0) } ?? true)
        }
        precondition(receivers.devices.count <= 16)
    }
    _ = receivers.expire(at: now + .seconds(60))
    precondition(receivers.deadline == nil)
}
