import Foundation

/// A receiver's log that is played round after round, its times moved on each time so that they never go back.
struct DriveLog {
    /// The sentences of one epoch each.
    private let epochs: [[String]]
    /// How long a round lasts, in seconds.
    private let duration: Int

    var count: Int { epochs.count }

    /// - Returns: `nil` if there is no such file.
    init?(_ file: URL, secondsPerEpoch: Int) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        var epochs: [[String]] = []
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("$GPRMC") { epochs.append([]) }
            if !epochs.isEmpty { epochs[epochs.count - 1].append(String(line)) }
        }
        guard !epochs.isEmpty else { return nil }
        self.epochs = epochs
        duration = epochs.count * secondsPerEpoch
        self.secondsPerEpoch = secondsPerEpoch
    }

    private let secondsPerEpoch: Int

    /// The bytes of an epoch of a round.
    func bytes(_ index: Int, round: Int) -> [UInt8] {
        let second = round * duration + index * secondsPerEpoch
        let text = epochs[index].map { Self.restamped($0, second) + "\r\n" }.joined()
        return Array(text.utf8)
    }

    /// The sentence as of so many seconds after midnight of 1 October 2005.
    private static func restamped(_ sentence: String, _ second: Int) -> String {
        guard sentence.hasPrefix("$"), let star = sentence.lastIndex(of: "*") else { return sentence }
        var fields = sentence[sentence.index(after: sentence.startIndex)..<star].split(
            separator: ",", omittingEmptySubsequences: false
        ).map(String.init)
        let position = ["GPRMC": 1, "GPGGA": 1, "GPGLL": 5][fields[0]]
        guard let position, position < fields.count else { return sentence }
        let time = second % 86_400
        fields[position] = String(format: "%02d%02d%02d", time / 3600, time / 60 % 60, time % 60)
        if fields[0] == "GPRMC", fields.count > 9 {
            let day = second / 86_400
            fields[9] = String(format: "%02d%02d05", day % 28 + 1, min(10 + day / 28, 12))
        }
        let body = fields.joined(separator: ",")
        return "$\(body)*" + String(format: "%02X", body.utf8.reduce(UInt8(0), ^))
    }
}
