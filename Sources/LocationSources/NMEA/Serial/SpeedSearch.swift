/// Finds the speed of a serial receiver by listening at one after the other.
struct SpeedSearch: Sendable, Equatable {
    /// The usual speeds of receivers, in bits a second: NMEA 0183's own first.
    static let usualSpeeds = [4800, 9600, 38400, 115_200]

    /// How long is listened at each speed, from the first byte on: silence says nothing about it.
    static let patience = Duration.milliseconds(1500)

    /// How many sound sentences prove a speed.
    static let proof = 2

    /// After how long without a sound sentence, while bytes come, a proven speed is doubted.
    static let doubtAfter = Duration.seconds(10)

    private let speeds: [Int]
    private var index = 0
    private(set) var isSettled: Bool

    /// - Parameter speed: the one that is configured; `nil` to try the usual ones.
    init(speed: Int?) {
        speeds = speed.map { [$0] } ?? Self.usualSpeeds
        isSettled = speed != nil
    }

    /// In bits a second.
    var speed: Int { speeds[index] }

    /// Whether there is anything to search.
    var isOpen: Bool { speeds.count > 1 }

    /// Takes in how many sound sentences there have been at this speed.
    mutating func heard(_ soundSentences: Int) {
        if soundSentences >= Self.proof { isSettled = true }
    }

    /// Goes on to the next speed, unless this one is proven.
    ///
    /// - Returns: whether the speed is another one now.
    mutating func patienceEnded() -> Bool {
        guard !isSettled, isOpen else { return false }
        index = (index + 1) % speeds.count
        return true
    }

    /// Begins to search again, at the speed that has been right so far.
    mutating func doubt() {
        if isOpen { isSettled = false }
    }
}
