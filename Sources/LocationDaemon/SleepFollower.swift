import DBus
import EventLoop

/// Tells when the machine is about to sleep and when it is awake again, by logind's word. Without logind it never sleeps.
///
/// Holds a delay lock (logind's “Inhibit”), so that the machine waits until everything has stopped.
@ServiceActor
final class SleepFollower {
    /// Everything is to stop before it returns. What it sends over the connection reaches the bus before the machine sleeps.
    var onSleep: (@ServiceActor () -> Void)?
    var onWake: (@ServiceActor () -> Void)?

    /// A sleep that has not begun after this time, or whose end nobody has told of, is over.
    private static let longestPreparation = Duration.seconds(60)
    /// When a lock that was not to be had is asked for again.
    private static let retry = Duration.seconds(60)

    private let connection: Connection
    private let clock: any Clock
    private var ownerWatch: Subscription?
    private var signals: Subscription?
    private var owner: BusName?
    private var isAsleep = false
    private var lock: UnixFD?
    private var isAskingForLock = false
    private var complaint = Complaint()
    private var end: Timer?
    private var nextRequest: Timer?

    init(_ connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
    }

    func start() {
        ownerWatch = connection.followOwner(of: Logind.busName) { [weak self] in self?.follow($0) }
    }

    private func follow(_ name: BusName?) {
        guard name != owner else { return }
        (owner, signals, lock, nextRequest) = (name, nil, nil, nil)
        // Nobody else would tell that it is over.
        wake()
        guard let name else { return }
        let rule = MatchRule(sender: name, path: Logind.path, interface: Logind.manager, member: "PrepareForSleep")
        signals = connection.subscribe(to: rule) { [weak self] signal in
            guard let isBeginning = try? signal.read(as: Bool.self) else { return }
            if isBeginning { self?.sleep() } else { self?.wake() }
        }
        takeLock()
    }

    private func sleep() {
        guard !isAsleep else { return }
        isAsleep = true
        // This clock goes on while the machine sleeps, so that whatever happens there is an end.
        end = clock.after(Self.longestPreparation) { [weak self] in self?.wake() }
        onSleep?()
        ServiceActor.start { [weak self, connection] in
            await connection.sent()
            if self?.isAsleep == true { self?.lock = nil }
        }
    }

    private func wake() {
        guard isAsleep else { return }
        isAsleep = false
        end = nil
        onWake?()
        takeLock()
    }

    /// Holds up the next sleep for as long as it takes to stop.
    private func takeLock() {
        guard let owner, lock == nil, !isAskingForLock, !isAsleep else { return }
        isAskingForLock = true
        ServiceActor.start { [weak self, connection] in
            do throws(BusError) {
                let lock = try await connection.call(
                    owner, Logind.path, Logind.manager, "Inhibit", "sleep", "Whereabouts",
                    "Stops looking for positions",
                    "delay", returning: UnixFD.self)
                self?.lockTaken(lock, from: owner)
            } catch {
                self?.lockRefused(error, by: owner)
            }
        }
    }

    private func lockTaken(_ lock: UnixFD, from login1: BusName) {
        isAskingForLock = false
        complaint.settle("logind lets the service delay sleep again")
        // One that comes too late holds nothing up.
        guard login1 == owner else { return takeLock() }
        if !isAsleep { self.lock = lock }
    }

    private func lockRefused(_ error: BusError, by login1: BusName) {
        isAskingForLock = false
        guard login1 == owner else { return takeLock() }
        complaint.raise("logind does not let the service delay sleep: \(error.message)")
        nextRequest = clock.after(Self.retry) { [weak self] in self?.takeLock() }
    }
}
