import DBus
import LocationTestSupport
import Testing

@Suite struct NameTests {
    @Test(
        "names of the specification's form are taken",
        arguments: [":1.42", "org.freedesktop.GeoClue2", "a.b", "_x._y", "a-b.c"])
    func goodBusNames(name: String) {
        #expect(BusName(name)?.string == name)
    }

    @Test(
        "malformed names are refused rather than handed to libdbus, which would end the process",
        arguments: [
            "", "nodot", ".a.b", "a..b", "1a.b", "a b.c", "a.b\0", "a.é",
            Sample(String(repeating: "a", count: 254) + ".b"),
        ] as [Sample])
    func badNames(name: Sample) {
        #expect(BusName(name.text) == nil)
        #expect(InterfaceName(name.text) == nil)
        #expect(ErrorName(name.text) == nil)
    }

    @Test(
        "malformed paths are refused",
        arguments: ["", "a", "/a/", "//", "/a//b", "/a-b", "/é", "/a\0", "/a\0/b"] as [Sample])
    func badPaths(path: Sample) {
        #expect(ObjectPath(path.text) == nil)
    }

    @Test("malformed members are refused", arguments: ["", "a.b", "1a", "a-b", "a\0", "ä"] as [Sample])
    func badMembers(member: Sample) {
        #expect(MemberName(member.text) == nil)
    }

    @Test(
        "malformed signatures are refused",
        arguments: [
            "a", "()", "{sv}", "a{vs}", "(s", "z", "a{s}", "s\0", Sample(String(repeating: "a", count: 33) + "s"),
            Sample(String(repeating: "s", count: 256)),
        ] as [Sample])
    func badSignatures(signature: Sample) {
        #expect(Signature(signature.text) == nil)
    }

    @Test("a signature falls into its complete types")
    func completeTypes() {
        let signature: Signature = "sa{sv}a(ii)aasv(a{s(v)})"

        #expect(signature.completeTypes.map(\.string) == ["s", "a{sv}", "a(ii)", "aas", "v", "(a{s(v)})"])
        #expect(!signature.isSingleType)
        #expect(signature.completeTypes.filter { !$0.isSingleType }.isEmpty)
        #expect(!Signature.empty.isSingleType)
    }

    @Test("a child of the root has one slash")
    func children() {
        #expect(ObjectPath.root.appending("a").appending("b_2") == "/a/b_2")
    }
}
