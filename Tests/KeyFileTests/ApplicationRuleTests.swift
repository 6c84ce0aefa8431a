import Testing

@testable import KeyFile

@Suite struct ApplicationRuleTests {
    private func rules(_ text: String) -> ([String: ApplicationRule], [ConfigurationFault]) {
        let (configuration, faults) = Configuration.read([KeyFileDocument(text, file: "x.conf")])
        return (configuration.applications, faults)
    }

    @Test("an allowed application without a list of users is allowed to everybody")
    func everybody() {
        let (rules, faults) = rules("[firefox]\nallowed=true\nsystem=false\nusers=\n")

        #expect(rules["firefox"]?.permits(1000) == true)
        #expect(faults == [])
    }

    @Test("a list of users lets in those, and nobody else")
    func someUsers() {
        let (rules, _) = rules("[firefox]\nallowed=true\nsystem=false\nusers=1000;1002;\n")

        #expect(rules["firefox"]?.permits(1002) == true)
        #expect(rules["firefox"]?.permits(1001) == false)
    }

    @Test("allowed=false refuses everybody, whoever is listed")
    func refused() {
        let (rules, _) = rules("[firefox]\nallowed=false\nsystem=false\nusers=1000\n")

        #expect(rules["firefox"]?.permits(1000) == false)
    }

    @Test("a list that names no user lets nobody in")
    func unreadableUsers() {
        let (rules, faults) = rules("[firefox]\nallowed=true\nsystem=false\nusers=alice;-1;4294967296\n")

        #expect(rules["firefox"]?.permits(0) == false)
        #expect(faults.map(\.description) == ["x.conf:4: [firefox] users: “alice” is not the number of a user"])
    }

    @Test("an allowed that cannot be read refuses")
    func unreadableAllowed() {
        let (rules, faults) = rules("[firefox]\nallowed=flase\nsystem=false\n")

        #expect(rules["firefox"]?.permits(1000) == false)
        #expect(faults.count == 1)
    }

    @Test("a group that does not say whether the application is allowed decides nothing, and is reported at its header")
    func undecided() {
        let (rules, faults) = rules("\n[firefox]\nsystem=true\n")

        #expect(rules["firefox"]?.permits(1000) == nil)
        #expect(rules["firefox"]?.isSystem == true)
        #expect(faults.map(\.description) == ["x.conf:2: [firefox]: does not say allowed="])
    }

    @Test("the names of sections are never applications", arguments: Section.allCases)
    func sections(section: Section) {
        let (rules, faults) = rules("[\(section.rawValue)]\nallowed=true\nsystem=true\n")

        #expect(rules == [:])
        #expect(faults.map(\.problem) == [.unknownKey, .unknownKey])
    }

    @Test("a misspelt section is no application")
    func misspeltSection() {
        let (rules, faults) = rules("[gspd]\nenable=true\n")

        #expect(rules == [:])
        #expect(faults.map(\.problem) == [.unknownKey, .unknownGroup])
    }

    @Test("the log hears of an application's fault without its id")
    func logLine() {
        let (_, faults) = rules("[org.example.Private]\nallowed=maybe\nsystem=false\n[gpsd]\nenable=maybe\n")

        #expect(
            faults.map(\.logLine) == [
                "x.conf:2: allowed: “maybe” is not true or false",
                "x.conf:5: [gpsd] enable: “maybe” is not true or false",
            ])
    }
}
