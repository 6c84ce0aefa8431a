import Geolocation

/// Reads `bytes` as lines of gpsd's protocol, 50 ms apart. Traps if a rule that holds for all input is broken.
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
