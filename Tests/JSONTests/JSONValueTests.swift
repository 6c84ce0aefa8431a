import JSON
import LocationTestSupport
import Testing

@Suite struct JSONValueTests {
    @Test("every kind of value is read")
    func kinds() throws {
        let value = try JSONValue(parsing: #"{"a":[1,-2.5,true,false,null,"é\n"],"b":{"c":1e3}}"#)

        #expect(value == ["a": [1, -2.5, true, false, nil, "é\n"], "b": ["c": 1000.0]])
    }

    @Test("accessors give a value of their kind only, and numbers of both kinds as doubles")
    func accessors() throws {
        let value = try JSONValue(parsing: #"{"i":3,"d":3.5,"s":"x","b":true,"a":[1],"o":{}}"#)

        #expect(value["i"]?.integer == 3 && value["i"]?.double == 3 && value["i"]?.string == nil)
        #expect(value["d"]?.double == 3.5 && value["d"]?.integer == nil)
        #expect(value["s"]?.string == "x" && value["b"]?.bool == true)
        #expect(value["a"]?.array == [1] && value["o"]?.object == [:])
        #expect(value["missing"] == nil && value["s"]?["x"] == nil)
    }

    @Test(
        "what is not JSON is refused, with the place where that is clear",
        arguments: [
            (#"{"a":}"#, 6), (#"{"a":1"#, 6), ("[1,]", 4), ("", 0), ("[1] x", 5), ("NaN", 3), ("{\"a\":01}", 6),
            ("\"\u{1}\"", 1), ("[1e999]", 6), (#"{"a":1}{"b":2}"#, 8), ("[99999999999999999999]", 21),
        ] as [(Sample, Int)])
    func malformed(text: Sample, position: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text.text) }

        guard case .malformed(let found, let reason) = error else {
            Issue.record("not malformed: \(String(describing: error))")
            return
        }
        #expect(found == position)
        #expect(text.text.isEmpty || !reason.isEmpty)
    }

    @Test("bytes that are not UTF-8 are refused")
    func notUTF8() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test("a document may be as large and as deep as its limits say, and no more")
    func limits() throws {
        let limits = JSONValue.Limits(bytes: 10, depth: 3)

        #expect(try JSONValue(parsing: "[[[]]]", limits: limits) == [[[]]])
        #expect(throws: JSONError.tooDeep(limit: 3)) { try JSONValue(parsing: "[[[[]]]]", limits: limits) }
        #expect(throws: JSONError.tooLarge(limit: 10)) { try JSONValue(parsing: "[         ]", limits: limits) }
    }

    @Test("brackets within strings are no depth")
    func bracketsInStrings() throws {
        let text = #"["[[[[\"[[[["]"#

        #expect(try JSONValue(parsing: text, limits: JSONValue.Limits(depth: 1)) == ["[[[[\"[[[["])
    }

    @Test("a million opening brackets are refused without recursion")
    func bomb() {
        let text = String(repeating: "[", count: 1_000_000)

        #expect(throws: JSONError.tooDeep(limit: 32)) { try JSONValue(parsing: text) }
    }

    @Test("of a key that comes twice the last value counts")
    func duplicates() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"a":2}"#) == ["a": 2])
    }

    @Test("what is written is read back as it was")
    func roundTrip() throws {
        let value: JSONValue = [
            "numbers": [60.1699, -0.1, 1e300, 2.5e-308, -9_223_372_036_854_775_808, 0],
            "text": "quote \" back \\ line\n tab\t bell\u{7}", "é": "\u{1F30D}\u{1}", "empty": [[], [:], ""],
            "words": [nil, true, false],
        ]

        #expect(try JSONValue(parsing: value.text()) == value)
        #expect(try JSONValue(parsing: value.text(.indented)) == value)
    }

    @Test("numbers have the digits that people wrote, members the order of their keys")
    func writing() throws {
        let value: JSONValue = ["b": 60.1699, "a": [1, nil], "c": "\u{1F}\"/"]

        #expect(try value.text() == #"{"a":[1,null],"b":60.1699,"c":"\u001f\"/"}"#)
        #expect(
            try value.text(.indented)
                == "{\n  \"a\": [\n    1,\n    null\n  ],\n  \"b\": 60.1699,\n  \"c\": \"\\u001f\\\"/\"\n}")
    }

    @Test("NaN and the infinities are not written", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(value: Double) {
        #expect(throws: JSONError.notFinite) { try JSONValue.array([.number(value)]).text() }
    }
}
