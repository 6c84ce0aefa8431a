import DBus
import EventLoop
import Positioning

/// The machine's compass, by way of iio-sensor-proxy where there is one. Never starts it.
///
/// It names magnetic north, which is passed on as north, as GeoClue does. Interface: `net.hadess.SensorProxy.Compass`
/// (iio-sensor-proxy's D-Bus reference, 3.4).
@ServiceActor
package final class Compass: HeadingFollowing {
    package var isWanted = false {
        didSet { if isWanted != oldValue { if isWanted { claim() } else { release() } } }
    }

    package private(set) var heading: Double?
    package var onChange: (@ServiceActor () -> Void)?

    /// A smaller turn, in degrees, is no other heading.
    private static let step = 5.0
    /// However it turns, it is told at most once in this time.
    private static let rest = Duration.seconds(1)

    private static let proxy: BusName = "net.hadess.SensorProxy"
    private static let path: ObjectPath = "/net/hadess/SensorProxy/Compass"
    private static let interface: InterfaceName = "net.hadess.SensorProxy.Compass"
    private static let patience = Duration.seconds(5)
    /// When a claim that has failed is tried again.
    private static let retry = Duration.seconds(60)

    private let connection: Connection
    private let clock: any Clock
    private var ownerWatch: Subscription?
    private var owner: BusName?
    private var signals: Subscription?
    /// Which claim is under way or holds; answers to one before it count no more.
    private var attempt = 0
    private var isClaiming = false
    private var isClaimed = false
    private var nextClaim: Timer?
    private var complaint = Complaint()

    private var latest: Double?
    private var toldAt: Duration?
    private var nextTelling: Timer?

    /// - Parameter connection: to the bus that iio-sensor-proxy is on.
    package init(connection: Connection, clock: any Clock) {
        self.connection = connection
        self.clock = clock
        ownerWatch = connection.followOwner(of: Self.proxy) { [weak self] in self?.ownerChanged($0) }
    }

    isolated deinit { release() }

    private func ownerChanged(_ name: BusName?) {
        guard name != owner else { return }
        owner = name
        (signals, isClaiming, isClaimed, nextClaim) = (nil, false, false, nil)
        attempt += 1
        if isWanted { consider(nil) }
        claim()
    }

    // MARK: Claiming

    private func claim() {
        guard isWanted, let owner else { return }
        attempt += 1
        isClaiming = true
        let rule = MatchRule.propertiesChanged(of: Self.interface, at: Self.path, from: owner)
        signals = connection.subscribe(to: rule) { [weak self] signal in
            guard let (_, values) = try? signal.read(as: String.self, [String: Variant].self) else { return }
            self?.take(values)
        }
        ServiceActor.start { [weak self, attempt] in
            do throws(BusError) {
                guard let values = try await self?.claim(from: owner), let self, self.attempt == attempt else { return }
                isClaiming = false
                complaint.settle("the compass can be used again")
                take(values)
            } catch {
                guard let self, self.attempt == attempt else { return }
                failed(error)
            }
        }
    }

    /// - Returns: its properties, once it measures or where it has nothing to measure with.
    private func claim(from owner: BusName) async throws(BusError) -> [String: Variant] {
        let attempt = attempt
        let values = try await readings(of: owner)
        // A machine without a compass may get one, which its properties tell.
        guard values["HasCompass"]?.value == .bool(true), self.attempt == attempt else { return values }
        // It may count us in although its answer comes too late.
        isClaimed = true
        try await connection.call(owner, Self.path, Self.interface, "ClaimCompass", timeout: Self.patience)
        return try await readings(of: owner)
    }

    private func readings(of owner: BusName) async throws(BusError) -> [String: Variant] {
        try await connection.call(
            owner, Self.path, .properties, "GetAll", Self.interface.string, returning: [String: Variant].self,
            timeout: Self.patience)
    }

    private func failed(_ error: BusError) {
        isClaiming = false
        if error != .noReply { isClaimed = false }
        complaint.raise("the compass cannot be used: \(error.message)")
        nextClaim = clock.after(Self.retry) { [weak self] in self?.claim() }
    }

    private func release() {
        if isClaimed, let owner {
            let message = Message.methodCall(to: owner, Self.path, Self.interface, "ReleaseCompass")
            message.expectsReply = false
            connection.send(message)
        }
        (signals, isClaiming, isClaimed, nextClaim, nextTelling) = (nil, false, false, nil, nil)
        attempt += 1
        (heading, latest, toldAt) = (nil, nil, nil)
    }

    // MARK: Headings

    private func take(_ values: [String: Variant]) {
        if let value = values["HasCompass"]?.value {
            if value != .bool(true) { return consider(nil) }
            // One that has been plugged in.
            if !isClaimed { return isClaiming ? () : claim() }
        }
        // Until it is claimed, the value is that of some time before.
        guard isClaimed, case .double(let angle)? = values["CompassHeading"]?.value else { return }
        // Unknown is negative.
        consider((0..<360).contains(angle) ? angle : angle == 360 ? 0 : nil)
    }

    private func consider(_ angle: Double?) {
        latest = angle
        guard nextTelling == nil, isTurned else { return }
        guard let wait = toldAt.map({ $0 + Self.rest - clock.now }), wait > .zero else { return tell() }
        nextTelling = clock.after(wait) { [weak self] in
            guard let self else { return }
            nextTelling = nil
            if isTurned { tell() }
        }
    }

    /// Whether the latest heading is another one than what was told.
    private var isTurned: Bool {
        guard let latest, let heading else { return latest != heading }
        return abs((latest - heading).remainder(dividingBy: 360)) >= Self.step
    }

    private func tell() {
        heading = latest
        toldAt = clock.now
        onChange?()
    }
}
