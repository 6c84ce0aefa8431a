import Geolocation
import Positioning
import Testing

@Suite("Coarse cells")
struct CoarseCellsTests {
    private var cells = CoarseCells()

    /// Offers a fix of second `time`; the system clock may differ from ``Timestamp/start`` plus that.
    private mutating func consider(_ fix: Fix, wallTime: Timestamp? = nil) -> Bool {
        cells.consider(
            fix, at: fix.measuredAt, wallTime: wallTime ?? .start + fix.measuredAt / .seconds(1))
    }

    private func cell(_ level: AccuracyLevel) -> CoarseFix? {
        if case .cell(let fix) = cells.visible[level] { fix } else { nil }
    }

    // MARK: What is seen

    @Test("the first fix makes a cell for each level at once")
    mutating func first() throws {
        #expect(cells.visible.isEmpty)

        #expect(consider(.sample(.gnss, at: 130)))

        for level in CoarseGrid.levels {
            let grid = try #require(CoarseGrid.cell(containing: Place.home.coordinate, at: level))
            #expect(cell(level)?.coordinate == grid.center)
            #expect(cell(level)?.radius == level.coarseRadius)
            #expect(cell(level)?.timestamp == .start)
            #expect(cell(level)?.isSimulated == false)
        }
    }

    @Test("what is coarse by kind passes as it is", arguments: [Fix.Kind.ip, .timezone])
    mutating func coarseByKind(kind: Fix.Kind) {
        let fix = Fix.sample(kind, at: 7, accuracy: 25_000)

        #expect(consider(fix))

        for level in CoarseGrid.levels { #expect(cells.visible[level] == .asFound(fix)) }
        #expect(cells.nextLook == nil)
        #expect(!consider(fix))
    }

    @Test("a set place passes at the levels that its own radius is coarse enough for")
    mutating func setPlace() {
        let fix = Fix.sample(.fixed, accuracy: 3000)

        #expect(consider(fix))

        #expect(cells.visible[.street] == .asFound(fix))
        #expect(cells.visible[.neighborhood] == .asFound(fix))
        #expect(cell(.city) != nil)
        #expect(cell(.country) != nil)
    }

    @Test("a satellite fix that claims a large radius does not pass", arguments: [Fix.Kind.gnss, .wifi, .cell])
    mutating func largeRadius(kind: Fix.Kind) {
        #expect(consider(.sample(kind, accuracy: 1e6)))

        for level in CoarseGrid.levels { #expect(cell(level) != nil) }
    }

    @Test("a simulated fix makes simulated cells, and a real one real ones at the next look")
    mutating func simulated() {
        #expect(consider(.sample(.gnss, isSimulated: true)))
        #expect(cell(.city)?.isSimulated == true)

        #expect(!consider(.sample(.gnss, at: 1)))
        #expect(consider(.sample(.gnss, at: 600)))
        #expect(cell(.city)?.isSimulated == false)
    }

    // MARK: What is not seen

    @Test("ten thousand fixes around a still point change nothing")
    mutating func stillPoint() {
        #expect(consider(.sample(.gnss, at: 0)))
        let before = cells.visible

        for second in 1...10_000 {
            let place = Place.home.north(Double((second * 37) % 41) - 20)
            let fix = Fix.sample(
                .gnss, at: Double(second), place, accuracy: Double(3 + second % 30), speed: 1,
                heading: Double(second % 360))
            #expect(!consider(fix))
        }

        #expect(cells.visible == before)
    }

    @Test("of a walk of ten thousand fixes only the cells at the ticks are seen", arguments: CoarseGrid.levels)
    mutating func walk(level: AccuracyLevel) throws {
        let fixes = (0..<10_000).map { Fix.sample(.gnss, at: Double($0), Place.home.north(Double($0) * 5), speed: 5) }

        var seen: [CoarseFix] = []
        for fix in fixes where consider(fix) && cell(level) != seen.last { seen += [try #require(cell(level))] }

        // What must be seen, from the grid and the clock alone.
        var expected: [CoarseFix] = []
        for fix in fixes where fix.timestamp.seconds % 600 == 0 {
            let center = try #require(CoarseGrid.cell(containing: fix.coordinate, at: level)).center
            guard center != expected.last?.coordinate else { continue }
            expected.append(
                CoarseFix(
                    coordinate: center, radius: try #require(level.coarseRadius), timestamp: fix.timestamp,
                    isSimulated: false))
        }
        #expect(seen == expected)
    }

    @Test("two walks through the same cells look the same, however they differ")
    func sameCells() throws {
        var calm = CoarseCells()
        var busy = CoarseCells()

        for second in 0..<10_000 {
            let time = Double(second)
            // Two kilometres a tick, in one go or evenly: the same place whenever it is looked at.
            let jump = Place.home.north((time / 600).rounded(.down) * 2000)
            let stroll = Place.home.north(time / 600 * 2000)
            let wallTime = Timestamp.start + time
            let calmChanged = calm.consider(
                .sample(.wifi, at: time, jump, accuracy: 40), at: .seconds(time), wallTime: wallTime)
            let busyChanged = busy.consider(
                .sample(.gnss, at: time, stroll, accuracy: 4, speed: 3.3, heading: 0, source: "gpsd:/dev/ttyUSB0"),
                at: .seconds(time), wallTime: wallTime)

            #expect(calmChanged == busyChanged)
            #expect(calm.visible == busy.visible)
        }
    }

    @Test("starting and stopping does not make it look again before the tick")
    mutating func stopAndStart() {
        #expect(consider(.sample(.gnss, at: 10)))
        let before = cells.visible

        for second in 11..<600 {
            cells.pause(at: .seconds(second))
            cells.resume(at: .seconds(second))
            #expect(!consider(.sample(.gnss, at: Double(second), .farAway)))
        }

        #expect(cells.visible == before)
        #expect(consider(.sample(.gnss, at: 600, .farAway)))
    }

    // MARK: Ticks

    @Test("the next look is at the system clock's next multiple of ten minutes")
    mutating func nextLook() {
        #expect(consider(.sample(.gnss, at: 130)))
        #expect(cells.nextLook == .seconds(600))

        #expect(!consider(.sample(.gnss, at: 600)))
        #expect(cells.nextLook == .seconds(1200))
    }

    @Test("a cell that has not changed keeps the tick at which it became current")
    mutating func unchanged() {
        #expect(consider(.sample(.gnss)))

        #expect(!consider(.sample(.gnss, at: 600)))
        #expect(cell(.city)?.timestamp == .start)
        #expect(consider(.sample(.gnss, at: 1200, .farAway)))
        #expect(cell(.city)?.timestamp == .start + 1200)
    }

    @Test("a tick that found no fix is made up for by the next one")
    mutating func lateFix() {
        #expect(consider(.sample(.gnss)))

        #expect(consider(.sample(.gnss, at: 1500, .farAway)))

        #expect(cell(.city)?.timestamp == .start + 1200)
        #expect(cells.nextLook == .seconds(1800))
    }

    @Test("a step of the system clock neither repeats a tick nor skips one", arguments: [-86_400.0, -450, 450, 86_400])
    mutating func clockStep(step: Double) {
        #expect(consider(.sample(.gnss, at: 0)))

        // The step comes right after the look: nothing is looked at before the ten minutes are over.
        for second in 1..<600 {
            let fix = Fix.sample(.gnss, at: Double(second), .farAway)
            #expect(!consider(fix, wallTime: .start + (Double(second) + step)))
        }
        #expect(consider(.sample(.gnss, at: 600, .farAway), wallTime: .start + (600 + step)))
    }

    @Test("after a step the ticks come back to the system clock's multiples of ten minutes")
    mutating func realigned() throws {
        #expect(consider(.sample(.gnss, at: 0)))

        _ = consider(.sample(.gnss, at: 600), wallTime: .start + 1000)

        // 1000 s is 200 s before a tick, too soon for a next look.
        let next = try #require(cells.nextLook)
        #expect(next == .seconds(600 + 200 + 600))
    }

    @Test("a tick that comes a little early by the system clock counts as that tick")
    mutating func earlyTick() {
        #expect(consider(.sample(.gnss, at: 0)))

        #expect(consider(.sample(.gnss, at: 600, .farAway), wallTime: .start + 599.8))

        #expect(cell(.city)?.timestamp == .start + 600)
        #expect(cells.nextLook == .seconds(600) + .milliseconds(600_200))
    }

    // MARK: Pauses

    @Test("a pause of up to a tick changes nothing")
    mutating func shortPause() {
        #expect(consider(.sample(.gnss, at: 590)))
        cells.pause(at: .seconds(591))
        cells.resume(at: .seconds(1191))

        #expect(!consider(.sample(.gnss, at: 1192)))
        #expect(cell(.city)?.timestamp == .start)
    }

    @Test("after a longer pause the cell is still there, and the next fix counts as the first")
    mutating func longPause() {
        #expect(consider(.sample(.gnss, at: 10)))
        cells.pause(at: .seconds(11))
        cells.resume(at: .seconds(5000))

        #expect(cell(.city)?.timestamp == .start)
        #expect(consider(.sample(.gnss, at: 5001)))
        #expect(cell(.city)?.timestamp == .start + 4800)
        #expect(!consider(.sample(.gnss, at: 5002, .farAway)))
        #expect(consider(.sample(.gnss, at: 5400, .farAway)))
    }

    // MARK: Between cells and fixes that are coarse by kind

    @Test("between two looks the same cell comes back after a fix that is coarse by kind")
    mutating func cameBack() {
        #expect(consider(.sample(.gnss, at: 0)))
        let before = cells.visible
        let address = Fix.sample(.ip, at: 100, .outskirts, accuracy: 25_000)

        #expect(consider(address))
        #expect(cells.visible[.city] == .asFound(address))
        #expect(consider(.sample(.gnss, at: 200, .farAway)))
        #expect(cells.visible == before)
    }

    @Test("a level that an address has served for long does not fall back to a cell of long ago")
    mutating func longAddress() {
        #expect(consider(.sample(.gnss, at: 0)))
        #expect(consider(.sample(.ip, at: 100, .farAway, accuracy: 25_000)))

        #expect(consider(.sample(.gnss, at: 5000, .farAway)))

        #expect(cell(.city)?.coordinate == CoarseGrid.cell(containing: Place.farAway.coordinate, at: .city)?.center)
    }
}
