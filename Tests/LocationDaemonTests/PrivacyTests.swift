import Authorization
import DBus
import DBusTestSupport
import EventLoop
import Foundation
import GeoClueAPI
import Geolocation
import LocationTestSupport
import Testing

@testable import LocationDaemon

/// What can be learned of a place by those who may not know it.
@Suite(.timeLimit(.minutes(3))) struct PrivacyTests {
    init() { EventLoop.startThread() }

    // MARK: Starting positions

    @Test("a fix from one user's use is not handed to another user who starts, nor that one's first update")
    @ServiceActor
    func otherUsersFix() async throws {
        let lab = try await Lab()
        let first = try await lab.running(of: 1)

        let second = try await lab.app(of: 2)
        let same = try await lab.app(of: 1)
        try await second.start()
        try await same.start()
        #expect(try await same.nextPlace() == Lab.place)
        try await lab.settle(second.connection)
        let before = second.updateCount
        await lab.clock.advance(by: .seconds(1))
        lab.receiver.send(48.13716, 11.57613)

        #expect(before == 0)
        #expect(try await second.get("Location") != .objectPath(.root))
        #expect(try await second.nextPlace() == [48.13716, 11.57613])
        #expect(try await first.isActive)
    }

    @Test("an address from one user's use is not handed to another user who starts, at no level, and is to its own")
    @ServiceActor
    func otherUsersAddress() async throws {
        var address: ScriptedSource!
        let lab = try await Lab(others: { clock in
            address = ScriptedSource("ip", kind: .ip, level: .city, clock: clock)
            return [address]
        })
        let first = try await lab.app(of: 1, level: .city)
        try await first.start()
        await address.demanded()
        address.send(Lab.place[0], Lab.place[1], accuracy: 25_000)
        #expect(try await first.nextPlace() == Lab.place)

        let second = try await lab.app(of: 2, level: .city)
        let same = try await lab.app(of: 1, level: .city)
        try await second.start()
        try await same.start()
        #expect(try await same.nextPlace() == Lab.place)
        try await lab.settle(second.connection)
        let before = second.updateCount
        address.send(53.550341, 10.000654, accuracy: 25_000)

        #expect(before == 0)
        #expect(try await second.nextPlace() == [53.550341, 10.000654])
    }

    @Test("a compass that is switched off does not take a user's own place away")
    @ServiceActor
    func compassOff() async throws {
        let lab = try await Lab()
        let compass = ScriptedCompass()
        lab.positioner.compass = compass
        compass.turn(120)
        _ = try await lab.running(of: 1)

        lab.positioner.compass = nil
        let same = try await lab.app(of: 1)
        try await same.start()

        #expect(try await same.nextPlace() == Lab.place)
    }

    @Test(
        "a fix is kept for the user in whose use it came, with its own time, also when nobody was using the service since"
    )
    @ServiceActor
    func ownFix() async throws {
        let lab = try await Lab()
        let app = try await lab.app(of: 1)
        try await app.start()
        await lab.receiver.demanded()
        lab.receiver.send(Lab.place[0], Lab.place[1])
        let given = try await app.read(app.nextLocation())
        try await app.stop()
        await lab.clock.advance(by: .seconds(30))

        let other = try await lab.app(of: 2)
        try await other.start()
        try await other.stop()
        let again = try await lab.app(of: 1)
        try await again.start()
        let location = try await again.read(again.nextLocation())

        #expect(location == given)
        try await lab.settle(other.connection)
        #expect(other.updateCount == 0)
    }

    @Test("a machine that is turned tells its place again to those who knew it, and to nobody else")
    @ServiceActor
    func turned() async throws {
        let lab = try await Lab()
        let compass = ScriptedCompass()
        lab.positioner.compass = compass
        let first = try await lab.running(of: 1)
        let second = try await lab.app(of: 2)
        try await second.start()

        compass.turn(120)
        let location = try await first.read(first.nextLocation())
        try await lab.settle(second.connection)

        #expect(location["Heading"]?.value == .double(120))
        #expect(second.updateCount == 0)
        compass.turn(240)
        #expect(try await first.nextPlace() == Lab.place)
        try await lab.settle(second.connection)
        #expect(second.updateCount == 0)
    }

    @Test("a cell is the same for everybody, and given at once")
    @ServiceActor
    func sharedCell() async throws {
        let lab = try await Lab()
        let first = try await lab.app(of: 1, level: .city)
        try await first.start()
        await lab.receiver.demanded()
        lab.receiver.send(Lab.place[0], Lab.place[1])
        let cell = try await first.nextPlace()

        let second = try await lab.app(of: 2, level: .city)
        try await second.start()

        #expect(try await second.nextPlace() == cell)
    }

    @Test("a place that somebody has set is the machine's, and anybody's who may know it")
    @ServiceActor
    func setPlace() async throws {
        var fixed: ScriptedSource!
        let lab = try await Lab(others: { clock in
            fixed = ScriptedSource("static", kind: .fixed, clock: clock)
            return [fixed]
        })
        let first = try await lab.app(of: 1)
        try await first.start()
        await fixed.demanded()
        fixed.send(Lab.place[0], Lab.place[1])
        _ = try await first.nextPlace()

        let second = try await lab.app(of: 2)
        try await second.start()

        #expect(try await second.nextPlace() == Lab.place)
    }

    // MARK: Cells

    /// A client with city accuracy, and every place that it was ever told, read as it comes.
    @ServiceActor
    private final class Observer {
        let app: App
        private(set) var seen: [[String: Variant]] = []
        private var count = 0

        init(_ app: App) { self.app = app }

        /// - Returns: whether it was told something since the last look.
        func look() async throws -> Bool {
            guard app.updateCount > count else { return false }
            #expect(app.updateCount == count + 1)
            count = app.updateCount
            guard case .objectPath(let location) = try await app.get("Location") else { return true }
            seen.append(try await app.read(location))
            return true
        }

        /// What it was told beside locations: its own properties, whose values it may know.
        var changesOfLocations: Int { app.heard.filter { $0.path?.string.contains("/Location/") == true }.count }
    }

    @Test(
        "ten thousand fixes around a still point and along a walk tell nothing but the cell and the ticks on which it changed"
    )
    @ServiceActor
    func tenThousand() async throws {
        let lab = try await Lab()
        let start = lab.clock.wallTime
        let observers = [
            Observer(try await lab.app(of: 1, level: .neighborhood)),
            Observer(try await lab.app(of: 2, level: .neighborhood)),
        ]
        for observer in observers { try await observer.app.start() }
        await lab.receiver.demanded()
        var random = SystemRandomNumberGenerator()
        func noise() -> Double { Double.random(in: -0.0004...0.0004, using: &random) }
        var told: [Int64] = []

        for step in 0..<10_000 {
            // 5000 s of standing still, then 1.4 m/s to the north: two cells and more.
            let walked = Double(max(0, step - 5000)) * 1.4 / 111_195
            lab.receiver.send(48.137154 + walked + noise(), 11.576124 + noise(), accuracy: 3 + noise(), speed: 1.4)
            await lab.clock.advance(by: .seconds(1))
            guard step % 20 == 19 || step == 0 else { continue }
            try await lab.settle(observers[0].app.connection)
            try await observers[1].app.connection.settle()
            let looks = [try await observers[0].look(), try await observers[1].look()]
            #expect(looks[0] == looks[1])
            if looks[0] { told.append((lab.clock.wallTime - start) / 1_000_000) }
        }
        // The same cell again after Stop and Start, and for whoever comes new.
        let app = observers[0].app
        try await app.stop()
        try await app.start()
        let again = try await app.read(#require(try await app.get("Location").objectPath))
        let newcomer = try await lab.app(of: 3, level: .neighborhood)
        try await newcomer.start()
        let new = try await newcomer.read(newcomer.nextLocation())

        // The first at once, all others in the twenty seconds after a tick.
        #expect(told.count >= 3)
        #expect(told.dropFirst().allSatisfy { $0 % 600 <= 20 }, "\(told)")
        #expect(observers[0].seen == observers[1].seen)
        #expect(again == observers[0].seen.last && new == again)
        #expect(observers.allSatisfy { $0.changesOfLocations == 0 })
        for location in observers[0].seen {
            #expect(location["Accuracy"]?.value == .double(3000))
            #expect(location["Speed"]?.value == .double(-1) && location["Heading"]?.value == .double(-1))
            #expect(location["Altitude"]?.value == .double(-Double.greatestFiniteMagnitude))
            #expect(location["Description"]?.value == .string(""))
            guard case .structure(let time)? = location["Timestamp"]?.value else { return #expect(Bool(false)) }
            #expect(time.count == 2 && time.last == .uint64(0))
            if case .uint64(let seconds)? = time.first { #expect(seconds % 600 == 0) }
            let centre = try #require(
                Coordinate(latitude: location["Latitude"]!.value.number, longitude: location["Longitude"]!.value.number)
            )
            let cell = try #require(CoarseGrid.cell(containing: centre, at: .neighborhood))
            #expect(cell.center == centre)
        }
    }

    // MARK: Digits

    @Test("no coordinate is in the store, its free pages included, nor in what another user hears")
    @ServiceActor
    func digits() async throws {
        let folder = TemporaryFolder()
        let clock = ManualClock()
        let store = SQLiteRecordStore(in: StateDirectory(folder.path), clock: clock)
        let lab = try await Lab(store: store)
        let stranger = try lab.connect(2)
        var overheard: [Message] = []
        let everything = stranger.subscribe(to: MatchRule()) { overheard.append($0) }
        try await lab.administrator(of: 2).subscribe()
        let app = try await lab.app(of: 1)
        try await lab.administrator(of: 1).set("claimed:org.example.Maps", "allow")
        try await app.start()
        await lab.receiver.demanded()
        for step in 0..<50 {
            lab.receiver.send(48.137154, 11.576124 + Double(step) / 1_000_000, accuracy: 4)
            await lab.clock.advance(by: .seconds(1))
        }
        try await lab.administrator(of: 1).remove("claimed:org.example.Maps")
        await store.finish()
        try await lab.settle(app.connection)
        try await stranger.settle()

        var bytes = Data()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            bytes += try Data(contentsOf: folder.url.appending(path: name))
        }
        #expect(bytes.range(of: Data("48.137".utf8)) == nil && bytes.range(of: Data("11.576".utf8)) == nil)
        for number in [48.137154, 11.576124] {
            let pattern = withUnsafeBytes(of: number.bitPattern.bigEndian) { Data($0) }
            #expect(bytes.range(of: pattern) == nil && bytes.range(of: Data(pattern.reversed())) == nil)
        }
        #expect(app.updateCount > 0)
        #expect(
            overheard.allSatisfy { message in
                message.sender == .bus || !(message.path?.string.contains("/Client/") ?? false)
            })
        for message in overheard {
            let text = (try? message.readValues()).map { "\($0)" } ?? ""
            #expect(!text.contains("48.13") && !text.contains("11.57"))
        }
        everything.cancel()
    }
}

extension Value {
    fileprivate var objectPath: ObjectPath? { if case .objectPath(let path) = self { path } else { nil } }
    fileprivate var number: Double { if case .double(let number) = self { number } else { .nan } }
}
