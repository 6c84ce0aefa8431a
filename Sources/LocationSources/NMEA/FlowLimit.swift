/// How much a stranger may send: many times what a receiver says, and little enough to cost nothing.
struct FlowLimit: Sendable, Equatable {
    /// Bytes a second. A receiver of many constellations says 2000 at 1 Hz.
    static let bytesPerSecond = 32768

    /// Between two of its fixes, at least. No more is to be had of a person or a car.
    static let fixSpacing = Duration.milliseconds(100)

    private var second = Duration.zero
    private var count = 0

    /// Takes in that so many bytes have come.
    ///
    /// - Returns: whether that is still within the limit.
    mutating func take(_ bytes: Int, at now: Duration) -> Bool {
        if now - second >= .seconds(1) { (second, count) = (now, 0) }
        count += bytes
        return count <= Self.bytesPerSecond
    }
}
