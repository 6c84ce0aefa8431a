import DBus
import EventLoop
import Geolocation
import LocationTestSupport
import Positioning
import Testing

@testable import LocationSources

/// Each neighbour with each fault, against what `Tests/Faults.md` says of it.
@Suite(.timeLimit(.minutes(1))) struct FaultMatrixTests {
    init() { EventLoop.startThread() }

    @Test("the table has each cell once")
    func table() throws {
        let cells = try FaultTable.read().map(\.cell)

        #expect(cells.count == 66 && Set(cells) == Set(FaultCell.all))
    }

    @Test(
        "whatever a neighbour does, another source goes on, and recovery takes as long as the table says",
        arguments: FaultCell.all)
    @ServiceActor
    func cell(_ cell: FaultCell) async throws {
        let statement = try FaultTable.statement(for: cell)
        let bench = try await Bench(cell)

        try await bench.begin()
        try await bench.otherGoesOn()
        try await bench.loseOther()
        guard let recovery = statement.recovery else {
            try await bench.pass(.seconds(3600))
            #expect(bench.neighbour.served == 0)
            #expect(bench.positioner.condition == statement.condition)
            return
        }
        try await bench.lastUntilRetry(in: recovery)
        #expect(bench.positioner.condition == statement.condition)
        try await bench.end()
        if recovery > .zero {
            try await bench.prompt()
            await bench.world.advance(by: recovery - .milliseconds(1))
            try await bench.prompt()
            #expect(!bench.isServed, "it is back earlier than after \(recovery)")
            #expect(bench.positioner.condition == statement.condition)
            await bench.world.advance(by: .milliseconds(1))
        }

        try await bench.served()
        #expect(bench.positioner.condition == .delivering)
    }

    @ServiceActor
    private final class Bench {
        let world = FaultWorld()
        let neighbour: any FaultyNeighbour
        let positioner: Positioner

        private let fault: Fault
        private let other: ScriptedSource
        private var mark = 0

        init(_ cell: FaultCell) async throws {
            fault = cell.fault
            neighbour = try await cell.neighbour.standIn(in: world)
            other = ScriptedSource("other", clock: world.positionerClock)
            positioner = Positioner(sources: [neighbour.source, other].compactMap { $0 }, clock: world.positionerClock)
            positioner.onAcceptance = { [world] in
                let name = String($0.source.prefix { $0 != ":" })
                world.accepted[name, default: 0] += 1
            }
            neighbour.attach(to: positioner)
        }

        /// Brings the fault about, in a neighbour that has worked where that makes a difference.
        func begin() async throws {
            let isStruck = !neighbour.isAskedAnew && (fault == .floods || fault == .diesMidway)
            let manner: Manner? =
                switch fault {
                case .absent, .comesLate: nil
                case .hangs: .hangs
                case .refuses: .refuses
                case .floods: isStruck ? .works : .floods
                case .diesMidway: isStruck ? .works : .dies
                }
            if let manner { try await neighbour.become(manner) }
            positioner.discover()
            try await world.settle()
            positioner.demand = .exact
            guard isStruck else { return try await world.settle() }
            try await served()
            if fault == .floods { try await neighbour.flood() } else { try await neighbour.die() }
            try await world.settle()
        }

        func otherGoesOn() async throws {
            for number in 1...3 {
                await world.advance(by: .seconds(1))
                try await world.settle()
                other.send(10.5, 20)
                #expect(world.accepted["other"] == number)
                #expect(positioner.condition == .delivering)
            }
        }

        func loseOther() async throws {
            guard neighbour.source != nil else {
                other.onRun = { source, demand in if demand != nil { source.send(10.5, 20) } }
                return
            }
            other.become(.none)
            other.lose()
        }

        func pass(_ time: Duration) async throws {
            let end = world.clock.now + time
            while world.clock.now < end { try await goOn() }
        }

        /// Lets the fault last until it has just been found that it does, and the next look is as far off as ever.
        func lastUntilRetry(in recovery: Duration) async throws {
            guard recovery > .zero else { return try await pass(.seconds(600)) }
            if fault == .floods, !neighbour.isAskedAnew {
                try await neighbour.flood()
                return try await world.settle()
            }
            // The client's last place has aged.
            try await pass(.seconds(60))
            let patience = world.clock.now + .seconds(24 * 3600)
            // Whatever else it waits for would come first.
            while world.clock.untilNextTimer != recovery {
                try #require(world.clock.now < patience, "nothing is ever tried again after \(recovery)")
                try await goOn()
            }
        }

        private func goOn() async throws {
            if fault == .floods, !neighbour.isAskedAnew { try await neighbour.act() }
            if neighbour.source == nil { other.send(10.5, 20) }
            try await world.step()
        }

        func end() async throws {
            mark = neighbour.served
            switch fault {
            case .absent: break
            case .floods where !neighbour.isAskedAnew: break
            default: try await neighbour.become(.works)
            }
            try await world.settle()
            if neighbour.source == nil { other.send(10.5, 20) }
        }

        /// Has the neighbour do what there is to be read.
        func prompt() async throws {
            try await neighbour.act()
            try await world.settle()
        }

        var isServed: Bool { neighbour.served > mark }

        /// Comes back when the neighbour has been of use, by now.
        func served() async throws {
            while !isServed {
                try Task.checkCancellation()
                try await prompt()
            }
        }
    }
}
