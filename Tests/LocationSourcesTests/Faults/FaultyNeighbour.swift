import DBus
import DBusTestSupport
import EventLoop
import Glibc
import LocationTestSupport
import Positioning

/// How a neighbour behaves.
enum Manner { case works, hangs, refuses, floods, dies }

/// A stand-in for a neighbour, with the part of the service that talks to it.
@ServiceActor
protocol FaultyNeighbour: AnyObject, Sendable {
    /// The source that lives by it; `nil` where it gives no positions.
    var source: (any LocationSource)? { get }
    /// Whether it has to be asked anew to show that it floods or has died.
    var isAskedAnew: Bool { get }
    /// Becomes this in the place where the service looks for it, or changes to it.
    func become(_ manner: Manner) async throws
    /// Leaves as a program that is killed.
    func die() async throws
    /// Says more than anybody wants to hear, once more.
    func flood() async throws
    /// Does what it does all the time while it works: a receiver has another fix.
    func act() async throws
    /// Lets the positioner use what is no source.
    func attach(to positioner: Positioner)
    /// Something that only works with it, and grows.
    var served: Int { get }
}

extension FaultyNeighbour {
    var isAskedAnew: Bool { false }
    func attach(to positioner: Positioner) {}
}

/// What the parts under test live in.
@ServiceActor
final class FaultWorld {
    /// That of the neighbour and of what talks to it.
    let clock = ManualClock()
    /// The same time for the positioner, whose timers tell nothing of the neighbour.
    let positionerClock = ManualClock()
    /// Where it is needed.
    private(set) var bus: PrivateBus!
    private(set) var connection: Connection!
    /// What has been accepted, by source.
    var accepted: [String: Int] = [:]
    private var moments = 0
    private let pulse = Pulse()

    func startBus() async throws {
        bus = try await PrivateBus()
        connection = try bus.connect(clock: clock)
    }

    /// Comes back when what is on its way has arrived, and what that brings about has too.
    func settle() async throws {
        for _ in 0..<8 { await pulse.beat() }
        if let connection { for _ in 0..<12 { try await connection.settle() } }
        await clock.settle()
    }

    func advance(by time: Duration) async {
        let end = clock.now + time
        while clock.now < end {
            let next = [clock.untilNextTimer, positionerClock.untilNextTimer].compactMap { $0 }.min() ?? time
            // Nothing comes from a time that the positioner has yet to see.
            let step = min(max(next, .microseconds(1)), end - clock.now)
            await positionerClock.advance(by: step)
            await clock.advance(by: step)
        }
    }

    /// Goes on to the next thing that happens by itself, or by a minute.
    func step() async throws {
        try await settle()
        await advance(by: min(clock.untilNextTimer ?? .seconds(60), .seconds(60)))
        try await settle()
    }

    /// Comes back after a time of the clock.
    func wait(_ delay: Duration) async {
        var timer: Timer?
        await withCheckedContinuation { continuation in
            timer = clock.after(delay) { continuation.resume() }
        }
        timer?.cancel()
    }

    /// `HHMMSS.ss` of a moment that is a little later each time.
    func nextTime() -> String {
        moments += 1
        let hundredths = clock.wallTime / 10_000 % 8_640_000 + Int64(moments)
        func digits(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let seconds = hundredths / 100
        return digits(seconds / 3600) + digits(seconds / 60 % 60) + digits(seconds % 60) + "."
            + digits(hundredths % 100)
    }
}

/// Lets the loop look at all descriptors that are ready.
@ServiceActor
private final class Pulse {
    private let reader, writer: FileDescriptor
    private var watch: Watch?
    private var waiting: CheckedContinuation<Void, Never>?

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
        watch = Watch(reader, for: .readable) { [weak self] _ in self?.arrived() }
    }

    isolated deinit { watch?.cancel() }

    func beat() async {
        await withCheckedContinuation { continuation in
            waiting = continuation
            var byte: UInt8 = 0
            write(writer.raw, &byte, 1)
        }
    }

    private func arrived() {
        var byte: UInt8 = 0
        read(reader.raw, &byte, 1)
        waiting?.resume()
        waiting = nil
    }
}
