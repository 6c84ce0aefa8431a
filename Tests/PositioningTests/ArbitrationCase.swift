import Geolocation
import Positioning
import Testing

/// A course of events and what the arbiter is to make of each.
struct ArbitrationCase: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [Step]

    var testDescription: String { name }

    struct Step: Sendable {
        let event: Event
        /// What may come of a fix; `nil` for what is no fix.
        let verdicts: [Verdict?]
        /// The kind of the position afterwards.
        let picked: Fix.Kind?
        let place: Place?
    }

    enum Event: Sendable {
        /// A fix that arrives at second `now`; `nil` for one whose place does not exist.
        case fix(Fix?, now: Double)
        case lost(source: String, now: Double)
        case tick(Double)
    }

    init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    func run() throws {
        var arbiter = Arbiter()
        for (number, step) in steps.enumerated() {
            let verdict: Verdict?
            switch step.event {
            case .fix(let fix?, let now):
                verdict = arbiter.consider(fix, at: .seconds(now), wallTime: .start + now)
            case .fix(nil, _):
                verdict = nil
            case .lost(let source, let now):
                arbiter.lose(source, at: .seconds(now))
                verdict = nil
            case .tick(let now):
                arbiter.reconsider(at: .seconds(now))
                verdict = nil
            }
            #expect(step.verdicts.contains(verdict), "step \(number + 1)")
            #expect(arbiter.current?.kind == step.picked, "step \(number + 1)")
            if let place = step.place {
                #expect(arbiter.current?.coordinate == place.coordinate, "step \(number + 1)")
            }
        }
    }
}

extension ArbitrationCase.Step {
    /// A fix that is to become the position.
    static func accepted(_ fix: Fix, now: Double? = nil) -> Self {
        Self(event: .fix(fix, now: now ?? fix.second), verdicts: [.accept], picked: fix.kind, place: fix.place)
    }

    /// A fix after which the position is of `picked`.
    static func refused(_ fix: Fix, _ verdict: Verdict, _ picked: Fix.Kind?, now: Double? = nil) -> Self {
        Self(event: .fix(fix, now: now ?? fix.second), verdicts: [verdict], picked: picked, place: nil)
    }

    static func tick(_ time: Double, _ picked: Fix.Kind?) -> Self {
        Self(event: .tick(time), verdicts: [nil], picked: picked, place: nil)
    }

    static func lost(_ source: String, at time: Double, _ picked: Fix.Kind?) -> Self {
        Self(event: .lost(source: source, now: time), verdicts: [nil], picked: picked, place: nil)
    }
}

extension Fix {
    fileprivate var second: Double { measuredAt / .seconds(1) }

    fileprivate var place: Place { Place(latitude: coordinate.latitude, longitude: coordinate.longitude) }
}
