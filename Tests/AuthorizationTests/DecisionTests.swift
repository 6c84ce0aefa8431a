import Geolocation
import KeyFile
import Testing

@testable import Authorization

@Suite struct DecisionTests {
    private static let flatpak = ApplicationIdentity(trust: .flatpak, id: "org.example.Maps")
    private static let plain = ApplicationIdentity(trust: .claimed, id: "maps")
    private static let hidden = ApplicationIdentity(trust: .unknown, id: "maps")

    private static func facts(
        _ application: ApplicationIdentity = flatpak, requesting level: AccuracyLevel = .exact,
        policy: AccessPolicy = AccessPolicy(), isPortal: Bool = false, hasSession: Bool = true,
        change: (inout Decision.Facts) -> Void = { _ in }
    ) -> Decision.Facts {
        var facts = Decision.Facts(
            requester: Requester(userID: 1, application: application, isPortal: isPortal, hasSession: hasSession),
            requestedLevel: level, policy: policy, keepsAnswers: false)
        change(&facts)
        return facts
    }

    private static func record(
        _ decision: AuthorizationRecord.Decision, level: AccuracyLevel = .exact, asked: AccuracyLevel? = nil,
        author: AuthorizationRecord.Author = .user(1), key: String = "x"
    ) -> AuthorizationRecord {
        AuthorizationRecord(
            userID: 1, key: key, decision: decision, level: level, askedLevel: asked, author: author,
            created: Timestamp(seconds: 0))
    }

    private func verdict(_ facts: Decision.Facts) -> Decision.Verdict { Decision(facts).verdict }

    private func level(_ facts: Decision.Facts) -> AccuracyLevel? {
        guard case .granted(let grant) = verdict(facts) else { return nil }
        return grant.level
    }

    private func step(_ facts: Decision.Facts) -> DecisionStep? { Decision(facts).findings.last?.step }

    private func policy(_ unsandboxed: AccessPolicy.UnsandboxedApps) -> AccessPolicy {
        AccessPolicy(unsandboxedApps: unsandboxed)
    }

    private func policy(_ id: String, _ rule: ApplicationRule) -> AccessPolicy {
        AccessPolicy(applications: [id: rule])
    }

    // MARK: Who is asked

    @Test("sandboxed and unknown callers are asked about, unsandboxed ones pass")
    func defaults() {
        #expect(verdict(Self.facts()) == .ask(level: .exact, otherwise: nil))
        #expect(verdict(Self.facts(Self.hidden)) == .ask(level: .exact, otherwise: nil))
        #expect(level(Self.facts(Self.plain)) == .exact)
        #expect(step(Self.facts(Self.plain)) == .defaultRule)
    }

    @Test("unsandboxed callers are asked about or refused where the configuration says so")
    func unsandboxedApps() {
        #expect(verdict(Self.facts(Self.plain, policy: policy(.ask))) == .ask(level: .exact, otherwise: nil))
        #expect(
            verdict(Self.facts(Self.plain, policy: policy(.deny)))
                == .denied(.refusedByDefault(.init(application: Self.plain, userID: 1))))
        #expect(verdict(Self.facts(policy: policy(.deny))) == .ask(level: .exact, otherwise: nil))
    }

    @Test("a user without a session gets only what a record or the configuration allows")
    func noSession() {
        let refused = Decision.Verdict.denied(.noRuleForSystemUser(.init(application: Self.plain, userID: 1)))
        let configured = policy("maps", .init(isAllowed: true, users: [1]))

        #expect(verdict(Self.facts(Self.plain, hasSession: false)) == refused)
        #expect(verdict(Self.facts(Self.plain, policy: policy(.ask), hasSession: false)) == refused)
        #expect(level(Self.facts(Self.plain, policy: configured, hasSession: false)) == .exact)
        #expect(level(Self.facts(Self.plain, hasSession: false) { $0.record = Self.record(.allow) }) == .exact)
    }

    @Test("the portal passes within the ceiling, whatever is recorded or configured for others")
    func portal() {
        let portal = ApplicationIdentity(trust: .host, id: "xdg-desktop-portal")
        func facts(_ change: (inout Decision.Facts) -> Void) -> Decision.Facts {
            Self.facts(portal, policy: policy(.ask), isPortal: true, change: change)
        }

        #expect(step(facts { $0.record = Self.record(.deny) }) == .portal)
        #expect(level(facts { $0.ceiling = .city }) == .city)
        #expect(level(facts { $0.ceiling = AccuracyLevel.none }) == nil)
    }

    // MARK: Order

    @Test("each step is heard only where no earlier one has decided")
    func order() {
        var facts = Self.facts {
            $0.policy.applications[Self.flatpak.id] = .init(isAllowed: false)
            $0.userSwitch = Self.record(.deny)
            $0.ceiling = AccuracyLevel.none
            $0.record = Self.record(.deny)
        }
        var steps = [step(facts)]
        facts.policy.applications[Self.flatpak.id] = .init(isAllowed: true)
        steps.append(step(facts))
        facts.userSwitch = nil
        steps.append(step(facts))
        facts.ceiling = .exact
        steps.append(step(facts))
        facts.record = nil
        steps.append(step(facts))
        facts.policy.applications = [:]
        steps.append(step(facts))

        #expect(
            steps == [
                .configuredDenial, .userSwitch, .agentCeiling, .record, .configuredAllowance, .question,
            ])
    }

    @Test("the findings name every step that was looked at, and no more")
    func findings() {
        let decision = Decision(
            Self.facts {
                $0.ceiling = .city; $0.record = Self.record(.allow)
            })

        #expect(
            decision.findings.map(\.step) == [
                .configuredDenial, .lostRecords, .userSwitch, .agentCeiling, .record,
            ])
        #expect(
            decision.findings.map(\.finding) == [.passed, .passed, .passed, .limited(to: .city), .granted])
    }

    @Test("ceilings of the switch, the agent and the record all hold")
    func lowestLimit() {
        for lowest in [\Decision.Facts.userSwitch, \.record] {
            let facts = Self.facts {
                $0.userSwitch = Self.record(.allow, level: .street)
                $0.ceiling = .street
                $0.record = Self.record(.allow, level: .street)
                $0[keyPath: lowest]?.level = .city
            }
            #expect(level(facts) == .city)
        }
        #expect(
            level(
                Self.facts {
                    $0.ceiling = .city; $0.record = Self.record(.allow)
                }) == .city)
        #expect(verdict(Self.facts { $0.ceiling = .city }) == .ask(level: .city, otherwise: nil))
    }

    @Test("a request for none counts as country, and nobody gets finer than asked")
    func requestedLevel() {
        #expect(level(Self.facts(Self.plain, requesting: .none)) == .country)
        #expect(level(Self.facts(Self.plain, requesting: .city)) == .city)
        #expect(verdict(Self.facts(requesting: .none)) == .ask(level: .country, otherwise: nil))
    }

    @Test("a ceiling of none stops everybody, an application that is allowed by configuration too")
    func ceilingOfNone() {
        let allowed = policy("maps", .init(isAllowed: true))

        #expect(
            verdict(Self.facts(Self.plain, policy: allowed) { $0.ceiling = AccuracyLevel.none })
                == .denied(.disabledByAgent(userID: 1)))
        #expect(
            verdict(Self.facts(Self.plain) { $0.userSwitch = Self.record(.allow, level: .none) })
                == .denied(.switchedOff(userID: 1)))
    }

    // MARK: Records

    @Test("a stored deny is obeyed for unsandboxed callers too")
    func storedDeny() {
        #expect(step(Self.facts(Self.plain) { $0.record = Self.record(.deny) }) == .record)
        #expect(level(Self.facts(Self.plain) { $0.record = Self.record(.deny) }) == nil)
        #expect(level(Self.facts(Self.plain) { $0.record = Self.record(.allow, level: .none) }) == nil)
    }

    @Test("a user who wants to be asked is asked, whatever the configuration allows")
    func storedAsk() {
        let facts = Self.facts(Self.plain, policy: policy("maps", .init(isAllowed: true))) {
            $0.record = Self.record(.ask, level: .city)
        }

        #expect(verdict(facts) == .ask(level: .city, otherwise: nil))
    }

    @Test("that an application was merely seen decides nothing")
    func seen() {
        #expect(level(Self.facts(Self.plain) { $0.record = Self.record(.ask, author: .nobody) }) == .exact)
    }

    @Test("an answer covers the level it was asked about: a finer need is a new question, and till then the old answer")
    func finerNeed() {
        func facts(_ change: (inout Decision.Facts) -> Void) -> Decision.Facts {
            Self.facts {
                $0.record = Self.record(.allow, level: .city, asked: .city, author: .agent(id: "shell"))
                $0.agentID = "shell"
                change(&$0)
            }
        }
        let consent = Grant(requestedLevel: .exact, allowedLevel: .city, decidedBy: .record)

        #expect(verdict(facts { _ in }) == .ask(level: .exact, otherwise: consent))
        #expect(verdict(facts { $0.agentID = nil }) == .granted(consent))
        #expect(verdict(facts { $0.keepsAnswers = true }) == .granted(consent))
        #expect(level(facts { $0.requestedLevel = .city }) == .city)
        #expect(verdict(facts { $0.record?.askedLevel = .street }) == .granted(consent))
        #expect(verdict(facts { $0.record?.askedLevel = nil }) == .granted(consent))
    }

    @Test("the answer of an agent that remembers serves only while that agent is not in charge")
    func remembering() {
        func facts(_ application: ApplicationIdentity = Self.flatpak, agent: String?) -> Decision.Facts {
            Self.facts(application, policy: AccessPolicy(rememberingAgentIDs: ["shell"])) {
                $0.record = Self.record(.deny, author: .agent(id: "shell"))
                $0.agentID = agent
            }
        }

        #expect(verdict(facts(agent: "shell")) == .ask(level: .exact, otherwise: nil))
        #expect(step(facts(agent: nil)) == .record)
        #expect(step(facts(agent: "other")) == .record)
        #expect(step(facts(Self.plain, agent: "shell")) == .record)
    }

    // MARK: Configuration

    @Test("a rule holds for its users, and refuses the others")
    func ruleUsers() {
        let rule = policy(Self.flatpak.id, .init(isAllowed: true, users: [2]))

        #expect(
            verdict(Self.facts(policy: rule))
                == .denied(.configuredDenial(.init(application: Self.flatpak, userID: 1))))
        #expect(level(Self.facts(policy: rule) { $0.requester = Self.user2 }) == .exact)
    }

    private static let user2 = Requester(userID: 2, application: flatpak, isPortal: false, hasSession: true)

    @Test("a rule may be named after the desktop file, and matches letter by letter")
    func ruleNames() {
        let rule = policy("maps.desktop", .init(isAllowed: false))

        #expect(level(Self.facts(Self.plain, policy: rule)) == nil)
        #expect(level(Self.facts(.init(trust: .claimed, id: "Maps"), policy: rule)) == .exact)
        #expect(level(Self.facts(.init(trust: .claimed, id: "maps2"), policy: rule)) == .exact)
    }

    @Test("what an unnamed sandbox says of itself gets it into no rule, only out")
    func unknownAndRules() {
        let rule = policy("maps", .init(isAllowed: true, isSystem: true))

        #expect(verdict(Self.facts(Self.hidden, policy: rule)) == .ask(level: .exact, otherwise: nil))
        #expect(!rule.isSystemComponent(Self.hidden) && rule.isSystemComponent(Self.plain))
        #expect(step(Self.facts(Self.hidden, policy: policy("maps", .init(isAllowed: false)))) == .configuredDenial)
    }

    @Test("a rule that only says what is part of the system decides nothing, and a list without users is nobody")
    func undecidedRules() {
        let system = policy(Self.flatpak.id, .init(isSystem: true, users: []))
        let nobody = policy(Self.flatpak.id, .init(isAllowed: true, users: []))

        #expect(verdict(Self.facts(policy: system)) == .ask(level: .exact, otherwise: nil))
        #expect(system.isSystemComponent(Self.flatpak))
        #expect(step(Self.facts(policy: nobody)) == .configuredDenial)
    }
}
