import Testing

@testable import KeyFile

@Suite struct RawValueTests {
    @Test("true, false, 1 and 0 are truth values, and nothing else is")
    func booleans() {
        #expect(["true", "1"].allSatisfy { RawValue($0).boolean == true })
        #expect(["false", "0"].allSatisfy { RawValue($0).boolean == false })
        #expect(["", "TRUE", "yes", "on", "2", "true;"].allSatisfy { RawValue($0).boolean == nil })
    }

    @Test("numbers are decimal, with a point, and finite")
    func numbers() {
        #expect(RawValue("2.5").number == 2.5)
        #expect(RawValue("-1e3").number == -1000)
        #expect(["", "2,5", "0x10", "inf", "nan", "1e400", "1 2"].allSatisfy { RawValue($0).number == nil })
    }

    @Test("the five escapes are resolved in texts")
    func escapes() throws {
        #expect(try RawValue(#"\sa\tb\nc\rd\\s"#).string() == " a\tb\nc\rd\\s")
    }

    @Test("any other escape is a fault, and so is a backslash at the end", arguments: [#"a\x"#, #"a\"#, #"a\;b"#])
    func wrongEscapes(text: String) {
        #expect(throws: ConfigurationFault.Problem.invalidEscape) { try RawValue(text).string() }
    }

    @Test("a list ends with a semicolon or without, and leaves out what is empty")
    func lists() throws {
        #expect(try RawValue("a;b;").list() == ["a", "b"])
        #expect(try RawValue("a; b ;; c").list() == ["a", "b", "c"])
        #expect(try RawValue("").list() == [])
        #expect(try RawValue(" ; ").list() == [])
    }

    @Test("an escaped semicolon belongs to the item, and an escaped blank at its end is kept")
    func escapesInLists() throws {
        #expect(try RawValue(#"a\;b;c\s ;d"#).list() == ["a;b", "c ", "d"])
    }

    @Test("a semicolon in a text is a semicolon")
    func semicolonInText() throws {
        #expect(try RawValue("a;b").string() == "a;b")
    }
}
