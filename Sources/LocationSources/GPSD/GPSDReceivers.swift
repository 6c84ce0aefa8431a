import Geolocation

/// What gpsd's messages come to: the devices that there are, and one fix for each moment of each.
package struct GPSDReceivers: Sendable {
    package enum Event: Sendable, Equatable {
        case fix(Fix)
        /// The named source has a fix again, or for the first time.
        case live(source: String)
        case lost(source: String)
    }

    /// How long a fix without a time waits for the same one with a time.
    package static let patience = Duration.milliseconds(200)

    /// More devices than any machine has; what comes beyond is ignored.
    private static let mostDevices = 16

    /// Paths of the devices that gpsd has named.
    package private(set) var devices: Set<String> = []

    private let name: String
    private var receivers: [String: Receiver] = [:]

    private struct Receiver: Sendable {
        var watch = FixWatch()
        var hdop: Double?
        var estimate: Double?
        var lastTime: Timestamp?
        /// A fix without a time, and until when it waits.
        var held: (fix: Fix, deadline: Duration)?
    }

    /// - Parameter name: the source's name, with which ``Fix/source`` begins.
    package init(name: String) { self.name = name }

    /// Takes a message that came at `now` on the monotonic clock and at `wallTime` microseconds since the epoch.
    package mutating func take(_ message: GPSDMessage, at now: Duration, wallTime: Int64) -> [Event] {
        switch message {
        case .devices(let paths):
            let gone = devices.subtracting(paths)
            devices = Set(paths.prefix(Self.mostDevices))
            return gone.sorted().flatMap { forget($0) }
        case .device(let path, isGone: true):
            devices.remove(path)
            return forget(path)
        case .device(let path, isGone: false):
            name(path)
            return []
        case .sky(let sky):
            if let hdop = sky.hdop { update(sky.device) { $0.hdop = hdop } }
            return []
        case .errors(let errors):
            update(errors.device) { $0.estimate = errors.horizontalError }
            return []
        case .position(let position):
            if let path = position.device { name(path) }
            return take(position, at: now, wallTime: wallTime)
        case .version, .watch, .error, .other:
            return []
        }
    }

    /// When ``expire(at:)`` is due.
    package var deadline: Duration? {
        receivers.values.lazy.flatMap { [$0.held?.deadline, $0.watch.deadline] }.compactMap { $0 }.min()
    }

    /// Does what time alone brings about.
    package mutating func expire(at now: Duration) -> [Event] {
        var events: [Event] = []
        for path in receivers.keys.sorted() {
            if let held = receivers[path]?.held, held.deadline <= now {
                receivers[path]?.held = nil
                events += tell(held.fix, of: path)
            }
            if receivers[path]?.watch.expire(at: now) == .lost { events.append(.lost(source: source(path))) }
        }
        return events
    }

    /// Forgets which devices there are: gpsd is gone. Their last fixes age as they would.
    package mutating func disconnected() {
        devices = []
        for path in receivers.keys { receivers[path]?.held = nil }
    }

    /// Forgets all but which devices there are, for when nobody watches any more.
    package mutating func stopped() { receivers = [:] }

    // MARK: Positions

    private mutating func take(_ position: GPSDPosition, at now: Duration, wallTime: Int64) -> [Event] {
        let path = position.device ?? ""
        guard position.isFix else {
            receivers[path]?.held = nil
            receivers[path]?.watch.fixDenied()
            return []
        }
        guard let coordinate = position.coordinate else { return [] }
        update(path) { _ in }
        guard let receiver = receivers[path] else { return [] }
        if let time = position.time {
            receivers[path]?.held = nil
            guard receiver.lastTime != time else { return [] }
            receivers[path]?.lastTime = time
        }
        let fix = Fix(
            coordinate: coordinate, horizontalAccuracy: accuracy(of: position, receiver),
            altitude: position.mode >= 3 ? position.altitude : nil, speed: position.speed, heading: position.track,
            timestamp: position.time ?? Timestamp(microseconds: wallTime), measuredAt: now, kind: .gnss,
            source: source(path))
        guard position.time == nil else { return tell(fix, of: path) }
        if receiver.held == nil { receivers[path]?.held = (fix, now + Self.patience) }
        return []
    }

    private mutating func tell(_ fix: Fix, of path: String) -> [Event] {
        let isNews = receivers[path]?.watch.fixCame(at: fix.measuredAt) == true
        return (isNews ? [.live(source: fix.source)] : []) + [.fix(fix)]
    }

    /// 95 % radius in metres: what gpsd or the receiver estimates, else gpsd's 19 m for each unit of HDOP
    /// (gpsd 3.22, `gps.h`), else 50 m. Never below 3 m.
    private func accuracy(of position: GPSDPosition, _ receiver: Receiver) -> Double {
        max(position.horizontalError ?? receiver.estimate ?? receiver.hdop.map { $0 * 19 } ?? 50, 3)
    }

    // MARK: Devices

    private func source(_ path: String) -> String { path.isEmpty ? name : "\(name):\(path)" }

    private mutating func name(_ path: String) {
        if devices.count < Self.mostDevices { devices.insert(path) }
    }

    private mutating func update(_ device: String?, _ change: (inout Receiver) -> Void) {
        let path = device ?? ""
        guard receivers[path] != nil || receivers.count < Self.mostDevices else { return }
        change(&receivers[path, default: Receiver()])
    }

    private mutating func forget(_ path: String) -> [Event] {
        switch receivers.removeValue(forKey: path)?.watch.state {
        case .live, .silent: [.lost(source: source(path))]
        case .waiting, .lost, nil: []
        }
    }
}
